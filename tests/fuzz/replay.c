/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target as a plain program, for compilers without libFuzzer and for every day: each input
 * of the stored corpora, and then fresh ones, which are made of those by a few random changes. The
 * same seed makes the same ones. An input that breaks something is written to a file, with which
 * the program, or libFuzzer's, repeats it.
 *
 * usage: replay_TARGET [-s SEED] RUNS CORPUS…   with OCHE_LONG=yes five times RUNS
 *        replay_TARGET INPUT                    one input, as it is
 *
 * CORPUS: in NAME.hex each line is an input, in hex, but for lines that begin with #. In NAME.txt
 * inputs are text, each after a line of four percent signs.
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

#define MOST_BYTES  8192
#define MOST_INPUTS 4096
#define MOST_FILE   (8u << 20)
#define LONGER      5
#define BROKEN      "broken-input"
#define SEPARATOR   "%%%%\n"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

struct input {
    size_t count;
    const uint8_t *bytes;
};

struct fresh {
    size_t count;
    uint8_t bytes[MOST_BYTES];
};

static struct input corpus[MOST_INPUTS];
static size_t inputs;
static const uint8_t *current;
static size_t current_count;

/* Keeps the input that broke a rule. Only calls that a signal handler may make. */
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

/* Adds an input to the corpus. Returns false if it is empty, too long or one too many. */
static bool add(const uint8_t *bytes, size_t count)
{
    if (count == 0 || count > MOST_BYTES || inputs == MOST_INPUTS)
        return false;
    corpus[inputs++] = (struct input){.count = count, .bytes = bytes};
    return true;
}

/* Adds a line of hex, whose bytes replace it. Returns false if it is no input. */
static bool add_hex(uint8_t *line, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int high = digit(line[i]), low = i + 1 < count ? digit(line[i + 1]) : -1;

        if (high < 0 || (i % 2 == 0 && low < 0))
            return false;
        if (i % 2 == 0)
            line[i / 2] = (uint8_t)(high << 4 | low);
    }
    return add(line, count / 2);
}

static bool read_hex(uint8_t *text)
{
    bool whole = true;
    uint8_t *end;

    for (; whole && (end = (uint8_t *)strchr((char *)text, '\n')) != NULL; text = end + 1)
        whole = *text == '#' || add_hex(text, (size_t)(end - text));
    return whole && *text == '\0';
}

static bool read_text(uint8_t *text)
{
    const size_t separator = strlen(SEPARATOR);
    uint8_t *at = (uint8_t *)strstr((char *)text, SEPARATOR);
    bool whole = at != NULL;

    while (whole && at != NULL) {
        uint8_t *next;

        at += separator;
        next = (uint8_t *)strstr((char *)at, "\n" SEPARATOR);
        whole = add(at, next != NULL ? (size_t)(next + 1 - at) : strlen((char *)at));
        at = next != NULL ? next + 1 : NULL;
    }
    return whole;
}

/* Reads a file of inputs, whose bytes stay in memory. */
static bool read_corpus(const char *path)
{
    const size_t name = strlen(path);
    uint8_t *text = malloc(MOST_FILE);
    FILE *file = fopen(path, "rb");
    size_t count = 0;
    bool whole = false;

    if (file != NULL && text != NULL && (count = fread(text, 1, MOST_FILE - 1, file)) > 0 &&
        feof(file) != 0 && memchr(text, '\0', count) == NULL) {
        text[count] = '\0';
        whole = name > 4 && strcmp(path + name - 4, ".txt") == 0 ? read_text(text) : read_hex(text);
    }
    if (!whole)
        fprintf(stderr, "%s: not a corpus: at most %d inputs of 1 to %d bytes, in hex or text\n",
                path, MOST_INPUTS, MOST_BYTES);
    if (file != NULL)
        fclose(file);
    return whole;
}

/* Changes, adds or removes some bytes. */
static void change(struct fresh *input, struct oche_random *random)
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
    default: /* continues like another input */
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

/* In memory of exactly its size, so a sanitizer detects any read beyond it. */
static void run(const uint8_t *input, size_t count)
{
    uint8_t *bytes = malloc(count);

    if (bytes == NULL)
        abort();
    current = memcpy(bytes, input, count);
    current_count = count;
    LLVMFuzzerTestOneInput(bytes, count);
    free(bytes);
}

static int run_file(const char *path)
{
    static struct fresh input;
    FILE *file = fopen(path, "rb");

    if (file == NULL || (input.count = fread(input.bytes, 1, MOST_BYTES, file)) == 0) {
        perror(path);
        return 2;
    }
    fclose(file);
    run(input.bytes, input.count);
    return 0;
}

/* Runs inputs that are made of those of the corpus. */
static void run_fresh(uint64_t runs, uint64_t seed)
{
    static struct fresh fresh;
    struct oche_random random = oche_random_stream(seed, "fuzz", 0);

    for (uint64_t i = 0; i < runs; i++) {
        const uint64_t changes = 1 + oche_random_below(&random, 6);
        const struct input *base = &corpus[oche_random_below(&random, inputs)];

        memcpy(fresh.bytes, base->bytes, base->count);
        fresh.count = base->count;
        for (uint64_t k = 0; k < changes; k++)
            change(&fresh, &random);
        run(fresh.bytes, fresh.count);
    }
}

int main(int argc, char **argv)
{
    const bool seeded = argc > 3 && strcmp(argv[1], "-s") == 0;
    const uint64_t seed = seeded ? strtoull(argv[2], NULL, 0) : 1;
    char **words = argv + (seeded ? 3 : 1);
    uint64_t runs;

    signal(SIGABRT, keep);
#ifndef __SANITIZE_ADDRESS__ /* it reports more of these, and then aborts */
    signal(SIGSEGV, keep);
    signal(SIGBUS, keep);
    signal(SIGFPE, keep);
#endif
    if (argc == 2)
        return run_file(argv[1]);
    if (argc < 3 || words[1] == NULL)
        return 2;
    runs = strtoull(words[0], NULL, 0) * (getenv("OCHE_LONG") != NULL ? LONGER : 1);
    for (char **path = words + 1; *path != NULL; path++)
        if (!read_corpus(*path))
            return 2;
    for (size_t i = 0; i < inputs; i++)
        run(corpus[i].bytes, corpus[i].count);
    run_fresh(runs, seed);
    printf("%zu stored inputs and %llu fresh ones, seed %llu\n", inputs, (unsigned long long)runs,
           (unsigned long long)seed);
    return 0;
}
