/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stat/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/refuse.h"
#include "cli/stat/screen.h"
#include "cli/stat/span.h"
#include "core/base.h"

#define CLIENTS       16
#define REQUEST_BYTES 4096
#define REQUEST_S     1.0  /* until a request has come … */
#define LONGEST_S     10.0 /* … and until its answer has left */
#define KIND          "text/plain; version=0.0.4; charset=utf-8"

struct client {
    int fd;              /* -1: the place is free */
    double until, heard; /* until: its deadline; heard: the time of its last progress */
    size_t got;
    char request[REQUEST_BYTES];
    char *answer; /* NULL: the request is not whole yet */
    size_t bytes, sent;
};

struct server {
    int fd;
    const char *view;
    struct client clients[CLIENTS];
};

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void end_client(struct client *client)
{
    close(client->fd);
    free(client->answer);
    *client = (struct client){.fd = -1};
}

/* ---- answers ---- */

/* Takes `body`, which it frees. */
static void answer_with(struct client *client, const char *status, const char *more, char *body,
                        size_t bytes, bool with_body)
{
    FILE *out = open_memstream(&client->answer, &client->bytes);

    OCHE_GOT(out != NULL);
    fprintf(out,
            "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%sConnection: close\r\n"
            "\r\n",
            status, KIND, bytes, more);
    if (with_body)
        fwrite(body, 1, bytes, out);
    OCHE_GOT(fclose(out) == 0);
    free(body);
}

static void refuse(struct client *client, const char *status, const char *more)
{
    char *body;
    const int bytes = asprintf(&body, "%s\n", status);

    OCHE_GOT(bytes >= 0);
    answer_with(client, status, more, body, (size_t)bytes, true);
}

static void answer_metrics(struct server *server, struct client *client)
{
    struct oche_views views;
    char *body;
    size_t bytes;
    FILE *out = open_memstream(&body, &bytes);

    OCHE_GOT(out != NULL && oche_views_read(&views, server->view));
    stat_print_metrics(out, &views);
    oche_views_free(&views);
    OCHE_GOT(fclose(out) == 0);
    answer_with(client, "200 OK", "", body, bytes, true);
}

/* Answers a complete request. Only its first line matters. */
static void answer(struct server *server, struct client *client)
{
    char *line = client->request, *path, *version;

    line[strcspn(line, "\r\n")] = '\0';
    path = strchr(line, ' ');
    version = path != NULL ? strchr(path + 1, ' ') : NULL;
    if (version == NULL || strncmp(version, " HTTP/1.", 8) != 0) {
        refuse(client, "400 Bad Request", "");
        return;
    }
    *path++ = '\0';
    *version = '\0';
    if (strcmp(line, "GET") != 0)
        refuse(client, "405 Method Not Allowed", "Allow: GET\r\n");
    else if (path[strcspn(path, "?")] = '\0', strcmp(path, "/metrics") != 0)
        refuse(client, "404 Not Found", "");
    else
        answer_metrics(server, client);
}

/* ---- clients ---- */

/* Reads the received part of the request. Returns false if the client must be closed. */
static bool receive(struct server *server, struct client *client, double now)
{
    const size_t room = sizeof(client->request) - 1 - client->got;
    const ssize_t count = recv(client->fd, client->request + client->got, room, MSG_DONTWAIT);

    if (count < 0)
        return errno == EAGAIN || errno == EINTR;
    if (count == 0)
        return false;
    client->heard = now;
    client->got += (size_t)count;
    client->request[client->got] = '\0';
    if (strlen(client->request) < client->got)
        refuse(client, "400 Bad Request", "");
    else if (strstr(client->request, "\r\n\r\n") != NULL || strstr(client->request, "\n\n") != NULL)
        answer(server, client);
    else if (client->got == sizeof(client->request) - 1)
        refuse(client, "431 Request Header Fields Too Large", "");
    if (client->answer != NULL)
        client->until = now + LONGEST_S;
    return true;
}

/* Sends as much as the socket takes. Returns false if the client must be closed. */
static bool send_on(struct client *client, double now)
{
    const ssize_t count = send(client->fd, client->answer + client->sent,
                               client->bytes - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (count < 0)
        return errno == EAGAIN || errno == EINTR;
    client->heard = now;
    client->sent += (size_t)count;
    if (client->sent < client->bytes)
        return true;
    shutdown(client->fd, SHUT_WR);
    /* unread data would make the kernel discard the answer at closing */
    while (recv(client->fd, client->request, sizeof(client->request), MSG_DONTWAIT) > 0)
        continue;
    return false;
}

static void serve_client(struct server *server, struct client *client, short events, double now)
{
    bool goes_on = now < client->until;

    if (goes_on && client->answer == NULL && (events & (POLLIN | POLLHUP | POLLERR)) != 0)
        goes_on = receive(server, client, now);
    if (goes_on && client->answer != NULL)
        goes_on = send_on(client, now);
    if (!goes_on)
        end_client(client);
}

/* Returns a place for a client: a free one, or that of the client with the longest silence. */
static struct client *place_for_client(struct server *server)
{
    struct client *oldest = &server->clients[0];

    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = &server->clients[i];

        if (client->fd < 0)
            return client;
        if (client->heard < oldest->heard)
            oldest = client;
    }
    end_client(oldest);
    return oldest;
}

/*
 * Accepts a client, and reads its request at once if it is there. Otherwise another client might
 * take its place.
 */
static void take_client(struct server *server, double now)
{
    const int fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct client *client;

    if (fd < 0)
        return;
    client = place_for_client(server);
    *client = (struct client){.fd = fd, .until = now + REQUEST_S, .heard = now};
    serve_client(server, client, POLLIN, now);
}

/* Waits, and handles all events. Returns false if a signal ends the program. */
static bool turn(struct server *server)
{
    struct pollfd fds[1 + CLIENTS];
    double now = seconds_now(), wait = -1;

    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct client *client = &server->clients[i];

        fds[1 + i] =
            (struct pollfd){.fd = client->fd, .events = client->answer != NULL ? POLLOUT : POLLIN};
        if (client->fd >= 0 && (wait < 0 || client->until - now < wait))
            wait = client->until > now ? client->until - now : 0;
    }
    fds[0] = (struct pollfd){.fd = server->fd, .events = POLLIN};
    if (!stat_wait(fds, 1 + CLIENTS, wait))
        return false;
    now = seconds_now();
    for (unsigned i = 0; i < CLIENTS; i++)
        if (server->clients[i].fd >= 0)
            serve_client(server, &server->clients[i], fds[1 + i].revents, now);
    if (fds[0].revents != 0)
        take_client(server, now);
    return true;
}

/* ---- the socket ---- */

static void print_address(const struct sockaddr_storage *address, char *text, size_t bytes)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    char host[INET6_ADDRSTRLEN] = "";

    if (address->ss_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
    else
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
    snprintf(text, bytes, address->ss_family == AF_INET ? "%s:%u" : "[%s]:%u", host,
             ntohs(v4->sin_port)); /* the port is at the same offset in both */
}

/* Returns a descriptor that listens, or -1 after an error was printed. */
static int listen_at(const struct sockaddr_storage *address, socklen_t bytes)
{
    const int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_storage own;
    socklen_t own_bytes = sizeof(own);
    const int one = 1;
    char text[80];

    print_address(address, text, sizeof(text));
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(fd, (const struct sockaddr *)address, bytes) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&own, &own_bytes) != 0) {
        oche_print_error("oche stat: --listen: %s: %s", text, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    print_address(&own, text, sizeof(text));
    printf("http://%s/metrics\n", text);
    fflush(stdout);
    return fd;
}

int stat_serve(const struct sockaddr_storage *address, socklen_t bytes, const char *view)
{
    struct server *server = calloc(1, sizeof(*server));

    OCHE_GOT(server != NULL);
    for (unsigned i = 0; i < CLIENTS; i++)
        server->clients[i].fd = -1;
    server->view = view;
    stat_signals_catch();
    server->fd = listen_at(address, bytes);
    if (server->fd < 0) {
        free(server);
        return 2;
    }
    while (turn(server))
        continue;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (server->clients[i].fd >= 0)
            end_client(&server->clients[i]);
    close(server->fd);
    free(server);
    return 0;
}
