// SPDX-License-Identifier: Apache-2.0
// For applications.py: Gloo's collectives over its transport of verbs, every number compared.
//
//     gloo_data DEVICE RANKS    one process a rank; they meet in a folder of their own
//
// At the end of a buffer Gloo insists that all its sends have completed, which its algorithms do
// not wait for. So nothing is freed here, and no process ends before all have their data.
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

static void expect(bool right, const std::string &what)
{
    if (!right)
        throw std::runtime_error("wrong data: " + what);
}

// What all ranks' numbers add up to, where rank r has i + r.
static int64_t sum_of(size_t i, int ranks)
{
    return static_cast<int64_t>(i) * ranks + int64_t{ranks} * (ranks - 1) / 2;
}

template <class Algorithm>
static void reduce(const std::shared_ptr<gloo::Context> &context, size_t count, const char *what)
{
    auto &numbers = *new std::vector<int64_t>(count);
    const std::vector<int64_t *> pointers{numbers.data()};
    auto &algorithm = *new Algorithm(context, pointers, static_cast<int>(count));

    for (size_t i = 0; i < count; i++)
        numbers[i] = static_cast<int64_t>(i) + context->rank;
    algorithm.run();
    for (size_t i = 0; i < count; i++)
        expect(numbers[i] == sum_of(i, context->size), what);
}

static void broadcast(const std::shared_ptr<gloo::Context> &context, size_t count, int root)
{
    auto &numbers = *new std::vector<int64_t>(count, context->rank == root ? 42 : 0);
    const std::vector<int64_t *> pointers{numbers.data()};
    auto &algorithm =
        *new gloo::BroadcastOneToAll<int64_t>(context, pointers, static_cast<int>(count), root);

    algorithm.run();
    for (int64_t number : numbers)
        expect(number == 42, "broadcast");
}

static void work(const std::string &device_name, int rank, int ranks, const std::string &folder)
{
    gloo::transport::ibverbs::attr attributes;

    attributes.name = device_name;
    attributes.port = 1;
    attributes.index = 0;
    try {
        gloo::rendezvous::FileStore store(folder);
        auto device = gloo::transport::ibverbs::CreateDevice(attributes);
        auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);

        context->connectFullMesh(store, device);
        for (size_t count : {1, 100, 65536, 1000003}) {
            reduce<gloo::AllreduceRingChunked<int64_t>>(context, count, "ring, chunked");
            reduce<gloo::AllreduceHalvingDoubling<int64_t>>(context, count, "halving, doubling");
            broadcast(context, count, ranks - 1);
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "gloo_data: %s\n", error.what());
        _exit(1);
    }
    std::printf("data right at %d\n", rank);
    std::fflush(stdout);
}

// A rank: does its work, says so, and waits until all have.
[[noreturn]] static void run(const std::string &device_name, int rank, int ranks,
                             const std::string &folder, int done, int all)
{
    char one = 0;

    work(device_name, rank, ranks, folder);
    _exit(write(done, &one, 1) != 1 || read(all, &one, 1) != 0);
}

int main(int count, char **arguments)
{
    char folder[] = "/tmp/gloo_data.XXXXXX", one;
    int failed = 0, ranks = count == 3 ? std::atoi(arguments[2]) : 0, done[2], all[2];

    if (ranks < 2 || mkdtemp(folder) == nullptr || pipe(done) != 0 || pipe(all) != 0) {
        std::fprintf(stderr, "usage: gloo_data DEVICE RANKS\n");
        return 2;
    }
    for (int rank = 0; rank < ranks; rank++)
        if (fork() == 0) {
            close(all[1]);
            close(done[0]);
            run(arguments[1], rank, ranks, folder, done[1], all[0]);
        }
    close(done[1]);
    for (int rank = 0; rank < ranks && read(done[0], &one, 1) == 1;)
        rank++;
    close(all[1]);
    for (int rank = 0; rank < ranks; rank++) {
        int status = 0;

        wait(&status);
        failed += status != 0;
        if (WIFSIGNALED(status))
            std::fprintf(stderr, "gloo_data: a rank ended by signal %d\n", WTERMSIG(status));
    }
    std::filesystem::remove_all(folder);
    return failed != 0;
}
