/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target as a plain program, for compilers without libFuzzer and for every day: each input
 * of the stored corpus, and then fresh ones, which are made of those by a few random changes. The
 * same seed makes the same ones. An input that breaks something is written to a file, with which
 * the program, or libFuzzer's, repeats it.
 *
 * usage: replay_TARGET CORPUS RUNS [SEED]     CORPUS: one input a line, in hex; with OCHE_LONG=yes
 *                                             five times RUNS
 *        replay_TARGET INPUT                  one input, as it is
 */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"

#define MOST_BYTES  400
#define MOST_INPUTS 4096
#define LONGER      5
#define BROKEN      "broken-input"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

struct input {
    size_t count;
    uint8_t bytes[MOST_BYTES];
};

static struct input corpus[MOST_INPUTS];
static size_t inputs;
static const uint8_t *current;
static size_t current_count;

/* Keeps the input that broke something. Only calls that a signal handler may make. */
static void keep(int number)
{
    static const char text[] = "the input is in the file " BROKEN "\n";
    const int file = open(BROKEN, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

    if (file >= 0 && write(file, current, current_count) == (ssize_t)current_count &&
        write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
        close(file);
    signal(number, SIG_DFL);
    raise(number);
}

static int digit(int letter)
{
    return isdigit(letter) ? letter - '0' : isxdigit(letter) ? tolower(letter) - 'a' + 10 : -1;
}

/* Reads the line of one input. Returns false if it is none. */
static bool take_line(const char *line, struct input *input)
{
    for (input->count = 0; digit(line[0]) >= 0 && digit(line[1]) >= 0; line += 2) {
        if (input->count == MOST_BYTES)
            return false;
        input->bytes[input->count++] = (uint8_t)(digit(line[0]) << 4 | digit(line[1]));
    }
    return *line == '\n' && input->count > 0;
}

static bool read_corpus(const char *path)
{
    char line[2 * MOST_BYTES + 3];
    FILE *file = fopen(path, "r");
    bool whole = file != NULL;

    while (whole && fgets(line, sizeof(line), file) != NULL) {
        if (line[0] == '#')
            continue;
        whole = inputs < MOST_INPUTS && take_line(line, &corpus[inputs++]);
    }
    if (!whole || inputs == 0)
        fprintf(stderr, "%s: not a corpus: at most %d lines, each of 1 to %d bytes in hex\n", path,
                MOST_INPUTS, MOST_BYTES);
    if (file != NULL)
        fclose(file);
    return whole && inputs > 0;
}

/* Changes, adds or removes some bytes. */
static void change(struct input *input, struct oche_random *random)
{
    const size_t at = oche_random_below(random, input->count);
    const size_t some = 1 + oche_random_below(random, 8);
    const struct input *other;
    size_t from, count;

    switch (oche_random_below(random, 6)) {
    case 0:
        input->bytes[at] ^= (uint8_t)(1u << oche_random_below(random, 8));
        break;
    case 1:
        input->bytes[at] = (uint8_t)oche_random_u64(random);
        break;
    case 2: /* up or down by a little: lengths, sequence numbers */
        input->bytes[at] = (uint8_t)(input->bytes[at] + oche_random_below(random, 9) - 4);
        break;
    case 3: /* without some */
        count = some < input->count - at ? some : input->count - at;
        if (count == input->count)
            break;
        memmove(input->bytes + at, input->bytes + at + count, input->count - at - count);
        input->count -= count;
        break;
    case 4: /* some more */
        if (input->count + some > MOST_BYTES)
            break;
        memmove(input->bytes + at + some, input->bytes + at, input->count - at);
        for (size_t i = 0; i < some; i++)
            input->bytes[at + i] = (uint8_t)oche_random_u64(random);
        input->count += some;
        break;
    default: /* goes on as another one does */
        other = &corpus[oche_random_below(random, inputs)];
        from = oche_random_below(random, other->count);
        count = other->count - from;
        if (count > MOST_BYTES - at)
            count = MOST_BYTES - at;
        memcpy(input->bytes + at, other->bytes + from, count);
        if (input->count < at + count)
            input->count = at + count;
        break;
    }
}

/* In memory of exactly its size, so that a sanitizer sees what is read beyond it. */
static void run(const struct input *input)
{
    uint8_t *bytes = malloc(input->count);

    if (bytes == NULL)
        abort();
    current = memcpy(bytes, input->bytes, input->count);
    current_count = input->count;
    LLVMFuzzerTestOneInput(bytes, input->count);
    free(bytes);
}

static int run_file(const char *path)
{
    static struct input input;
    FILE *file = fopen(path, "rb");

    if (file == NULL || (input.count = fread(input.bytes, 1, MOST_BYTES, file)) == 0) {
        perror(path);
        return 2;
    }
    fclose(file);
    run(&input);
    return 0;
}

int main(int argc, char **argv)
{
    static struct input fresh;
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    const uint64_t times = getenv("OCHE_LONG") != NULL ? LONGER : 1;
    const uint64_t runs = argc > 2 ? times * strtoull(argv[2], NULL, 0) : 0;
    struct oche_random random = oche_random_stream(seed, "fuzz", 0);

    signal(SIGABRT, keep);
#ifndef __SANITIZE_ADDRESS__ /* which tells more of these, and then aborts */
    signal(SIGSEGV, keep);
    signal(SIGBUS, keep);
    signal(SIGFPE, keep);
#endif
    if (argc == 2)
        return run_file(argv[1]);
    if (argc < 3 || !read_corpus(argv[1]))
        return 2;
    for (size_t i = 0; i < inputs; i++)
        run(&corpus[i]);
    for (uint64_t i = 0; i < runs; i++) {
        const uint64_t changes = 1 + oche_random_below(&random, 6);

        fresh = corpus[oche_random_below(&random, inputs)];
        for (uint64_t k = 0; k < changes; k++)
            change(&fresh, &random);
        run(&fresh);
    }
    printf("%zu stored inputs and %llu fresh ones, seed %llu\n", inputs, (unsigned long long)runs,
           (unsigned long long)seed);
    return 0;
}
