/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the sizes of DCQCN sec 4 and prints them. */
#include "cli/buffers/sizes.h"

#include <math.h>
#include <stdlib.h>

#include "fabric/chips.h"
#include "fabric/shared_buffer.h"
#include "params/figures.h"
#include "params/table.h"

struct model {
    const struct oche_buffers_input *input;
    struct oche_switch_params params;
    struct oche_switch_config config;
    struct oche_switch_port_config *ports;
};

static void make(struct model *model, const struct oche_buffers_input *input)
{
    const unsigned classes = input->priorities > 0 ? input->priorities : 1;

    *model = (struct model){.input = input};
    oche_param_preset(&oche_switch_params, OCHE_PRESET_DEPLOYED, &model->params);
    model->params.buffer_bytes = input->buffer_bytes;
    model->params.beta = input->beta;
    model->params.headroom_bytes = input->headroom_bytes;
    model->params.pfc_response = input->response;
    if (input->priorities > 0)
        model->params.pfc_priorities = input->priorities;
    model->ports = calloc(input->ports, sizeof(*model->ports));
    OCHE_GOT(model->ports != NULL);
    for (unsigned kind = 0, port = 0; kind < input->kinds; kind++)
        for (unsigned i = 0; i < input->links[kind].ports; i++)
            model->ports[port++] = (struct oche_switch_port_config){
                .rate_bps = input->links[kind].rate_bps, .delay = input->links[kind].delay};
    model->config = (struct oche_switch_config){
        .params = &model->params,
        .port_count = input->ports,
        .ports = model->ports,
        .class_count = (uint8_t)classes,
        .lossless_classes = (uint8_t)((1u << classes) - 1),
        .mtu_frame_bytes = (uint32_t)input->mtu_bytes + OCHE_BUFFERS_FRAME_EXTRA,
    };
}

void oche_buffers_fill_in(struct oche_buffers_input *input)
{
    struct model model;

    make(&model, input);
    const struct oche_buffer_plan plan = oche_buffer_plan(&model.config);

    input->priorities = plan.priorities;
    input->beta = plan.beta;
    if (input->buffer_bytes == OCHE_NEVER) {
        const struct oche_chip *chip = oche_chip_for(&model.config);

        input->buffer_bytes = chip->buffer_bytes;
        input->chip = chip->chip;
        input->chip_note = oche_chip_has_ports(chip, &model.config)
                               ? "the smallest chip that has these ports"
                               : "the largest chip; none has these ports";
    }
    free(model.ports);
}

/*
 * Prints the dynamic threshold of a port and priority relative to the free space, as switches are
 * configured.
 */
static double alpha(const struct oche_buffers_input *in)
{
    return in->beta / in->priorities;
}

static void set_priorities(struct model *model, unsigned priorities)
{
    const struct oche_buffers_input *in = model->input;

    model->params.beta = in->by_beta ? in->beta : alpha(in) * priorities;
    model->params.pfc_priorities = priorities;
    model->config.class_count = (uint8_t)priorities;
    model->config.lossless_classes = (uint8_t)((1u << priorities) - 1);
}

static double bound(struct model *model, enum oche_buffer_threshold threshold)
{
    model->params.threshold = threshold;
    return oche_buffer_ecn_bound_of_paper(
        &model->config,
        (struct oche_buffer_worst){.fan_out = model->input->ports,
                                   .classes = (unsigned)model->params.pfc_priorities});
}

/* As bound(), but the static threshold is xoff where that is given. */
static double given_bound(struct model *model, enum oche_buffer_threshold threshold)
{
    double bytes;

    model->params.xoff_bytes = model->input->xoff_bytes;
    bytes = bound(model, threshold);
    model->params.xoff_bytes = 0;
    return bytes;
}

/* Returns the queue from which on an incast from all other ports is paused. */
static double incast_queue(struct model *model, enum oche_buffer_threshold threshold)
{
    double bytes;

    model->params.threshold = threshold;
    model->params.xoff_bytes = model->input->xoff_bytes;
    bytes = oche_buffer_incast_queue(&model->config, model->input->ports - 1);
    model->params.xoff_bytes = 0;
    return bytes;
}

/* True if no xoff is given, or if all ports and priorities can reach it at once. */
static bool xoff_fits(const struct model *model)
{
    return model->input->xoff_bytes <= oche_buffer_plan(&model->config).xoff;
}

static struct oche_figure number(uint64_t value)
{
    return oche_figure_count(value);
}

struct oche_figure oche_buffers_tenths(double value)
{
    struct oche_figure whole = number((uint64_t)value), text;

    snprintf(text.text, sizeof(text.text), "%.*s.%u", (int)sizeof(text.text) - 4, whole.text,
             (unsigned)((value - floor(value)) * 10));
    return text;
}

/* ---- line by line ---- */

static void print_link(const struct oche_buffers_links *links, FILE *out)
{
    fprintf(out, "%s one way", oche_figure_time(links->delay).text);
    if (links->cable_m >= 0)
        fprintf(out, " (%g m of 5 ns)", links->cable_m);
}

static void print_switch(const struct model *model, FILE *out)
{
    const struct oche_buffers_input *in = model->input;

    fprintf(out, "switch%s%s: B = %s B, n = %u ports, ", in->chip != NULL ? ": " : "",
            in->chip != NULL ? in->chip : "", number(in->buffer_bytes).text, in->ports);
    if (in->kinds == 1)
        fprintf(out, "C = %s, ", oche_figure_rate(in->links[0].rate_bps).text);
    fprintf(out, "p = %u PFC priorities\n", in->priorities);
    if (in->chip_note != NULL)
        fprintf(out, "chip: %s\n", in->chip_note);
    for (unsigned kind = 0; kind < in->kinds; kind++) {
        const struct oche_buffers_links *links = &in->links[kind];

        fputs(kind == 0 ? "link: " : "      ", out);
        if (in->kinds > 1)
            fprintf(out, "%u x %s, ", links->ports, oche_figure_rate(links->rate_bps).text);
        print_link(links, out);
        fputs(in->kinds > 1 ? "\n" : ", ", out);
    }
    fprintf(out, "PAUSE acts after %s, frames of %s B (MTU %s B)\n\n",
            oche_figure_time(in->response).text, number(model->config.mtu_frame_bytes).text,
            number(in->mtu_bytes).text);
}

/* Prints the line for one kind of ports; `port` is the index of one of them. */
static void print_flight(const struct model *model, const struct oche_buffers_links *links,
                         unsigned port, FILE *out)
{
    const struct oche_buffers_input *in = model->input;
    uint64_t headroom = oche_buffer_headroom(&model->config, port);
    uint64_t frames = 2 * (uint64_t)model->config.mtu_frame_bytes;
    uint64_t pause = OCHE_MIN_FRAME_BYTES + OCHE_GAP_BYTES;

    fprintf(out, "           = %s x (2 x %s + %s) + 2 x %s B + %s B\n",
            oche_figure_rate(links->rate_bps).text, oche_figure_time(links->delay).text,
            oche_figure_time(in->response).text, number(model->config.mtu_frame_bytes).text,
            number(pause).text);
    fprintf(out, "           = %s B + %s B + %s B = %s B", number(headroom - frames - pause).text,
            number(frames).text, number(pause).text, number(headroom).text);
    if (in->kinds > 1)
        fprintf(out, " for each of %u ports", links->ports);
    fputc('\n', out);
}

/* Returns the headroom of the link that needs most. */
static uint64_t needed(const struct model *model)
{
    uint64_t most = 0;

    for (unsigned port = 0; port < model->input->ports; port++) {
        uint64_t bytes = oche_buffer_headroom_needed(&model->config, port);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void print_given(const struct model *model, FILE *out)
{
    uint64_t given = model->input->headroom_bytes, formula = needed(model);

    fprintf(out, "  t_flight = %s B, given", number(given).text);
    if (given < formula)
        fprintf(out, ": TOO LITTLE for a link that needs %s B; packets may be lost",
                number(formula).text);
    fputs("\n\n", out);
}

static void print_headroom(const struct model *model, FILE *out)
{
    const struct oche_buffers_input *in = model->input;

    fprintf(out, "headroom, of a port and priority\n");
    if (in->headroom_bytes != OCHE_NEVER) {
        print_given(model, out);
        return;
    }
    fprintf(out, "  t_flight = C (2 delay + response) + 2 frames + a PAUSE frame\n");
    for (unsigned kind = 0, port = 0; kind < in->kinds; port += in->links[kind++].ports)
        print_flight(model, &in->links[kind], port, out);
    fputc('\n', out);
}

static void print_headroom_total(const struct model *model, uint64_t total, FILE *out)
{
    const struct oche_buffers_input *in = model->input;

    if (in->kinds == 1) {
        fprintf(out, "  H = p n t_flight = %u x %u x %s B", in->priorities, in->ports,
                number(oche_buffer_headroom(&model->config, 0)).text);
    } else {
        fprintf(out, "  H = p (sum of t_flight over ports) = %u x (", in->priorities);
        for (unsigned kind = 0, port = 0; kind < in->kinds; port += in->links[kind++].ports)
            fprintf(out, "%s%u x %s B", kind == 0 ? "" : " + ", in->links[kind].ports,
                    number(oche_buffer_headroom(&model->config, port)).text);
        fputc(')', out);
    }
    fprintf(out, " = %s B\n", number(total).text);
}

/* Prints the memory left for sharing. Returns true if any is left. */
static bool print_shared(const struct model *model, FILE *out)
{
    const struct oche_buffers_input *in = model->input;
    struct oche_buffer_plan plan = oche_buffer_plan(&model->config);

    fprintf(out, "what is left to share\n");
    print_headroom_total(model, plan.headroom_total, out);
    if (plan.headroom_total < in->buffer_bytes) {
        fprintf(out, "  S = B - H = %s B - %s B = %s B\n\n", number(in->buffer_bytes).text,
                number(plan.headroom_total).text, number(plan.shared).text);
        return true;
    }
    uint64_t fit = (in->buffer_bytes - 1) / (plan.headroom_total / in->priorities);

    fprintf(out, "  H is not less than B = %s B: there is no memory for that.\n",
            number(in->buffer_bytes).text);
    if (fit > 0)
        fprintf(out, "  It would do for %s priorit%s, or with shorter cables.\n", number(fit).text,
                fit == 1 ? "y" : "ies");
    else
        fprintf(out, "  Not even one priority fits; shorter cables, or fewer ports, would do.\n");
    return false;
}

static void print_thresholds(struct model *model, FILE *out)
{
    const struct oche_buffers_input *in = model->input;
    struct oche_buffer_plan plan = oche_buffer_plan(&model->config);
    unsigned p = in->priorities, n = in->ports;
    double fixed = given_bound(model, OCHE_THRESHOLD_STATIC);
    uint64_t xoff = in->xoff_bytes > 0 ? in->xoff_bytes : plan.xoff;

    fprintf(out, "static PFC threshold, of an ingress port and priority\n");
    fprintf(out, "  t_PFC <= S / (p n) = %s B / (%u x %u) = %s B\n", number(plan.shared).text, p, n,
            number(plan.xoff).text);
    if (in->xoff_bytes > 0)
        fprintf(out, "  t_PFC = xoff = %s B, given%s\n", number(xoff).text,
                xoff_fits(model) ? "" : ": TOO MUCH; packets may be lost");
    fprintf(out, "  ECN first, if all queues' packets came from one port: n t_ECN < t_PFC\n");
    fprintf(out, "  t_ECN < t_PFC / n = %s B / %u = %s B%s\n\n", number(xoff).text, n,
            oche_buffers_tenths(fixed).text,
            fixed < model->config.mtu_frame_bytes ? ": less than a frame, cannot be" : "");
    fprintf(out, "dynamic PFC threshold, s bytes being stored; beta = alpha p = %g x %u = %g\n",
            alpha(in), p, in->beta);
    fprintf(out, "  t_PFC = beta (S - s) / p = %g x (%s B - s) / %u; %s B when all is free\n",
            in->beta, number(plan.shared).text, p,
            number((uint64_t)(in->beta * (double)plan.shared / p)).text);
    fprintf(out,
            "  ECN first, if all p n queues are as long: n t_ECN < beta (S - p n t_ECN) / p\n");
    fprintf(out, "  t_ECN < beta S / (p n (beta + 1)) = %g x %s B / (%u x %u x %g) = %s B\n\n",
            in->beta, number(plan.shared).text, p, n, in->beta + 1,
            oche_buffers_tenths(bound(model, OCHE_THRESHOLD_DYNAMIC)).text);
    fprintf(out, "RESUME\n  below t_PFC by 2 frames = %s B\n",
            number(2 * (uint64_t)model->config.mtu_frame_bytes).text);
}

/* Prints the result for fewer priorities. */
static void print_priorities(struct model *model, FILE *out)
{
    const struct oche_buffers_input *in = model->input;
    struct oche_table *table = oche_table_create(6);
    static const char *const heading[] = {"priorities",   "H",         "S",
                                          "static t_PFC", "its t_ECN", "dynamic t_ECN"};

    for (size_t i = 0; i < OCHE_COUNT_OF(heading); i++)
        oche_table_cell(table, "%s", heading[i]);
    oche_table_rule(table);
    for (unsigned p = 1; p <= in->priorities; p++) {
        set_priorities(model, p);
        struct oche_buffer_plan plan = oche_buffer_plan(&model->config);

        oche_table_cell(table, "%u", p);
        oche_table_cell(table, "%s", oche_figure_bytes(plan.headroom_total).text);
        oche_table_cell(table, "%s", oche_figure_bytes(plan.shared).text);
        oche_table_cell(table, "%s", oche_figure_bytes(plan.xoff).text);
        oche_table_cell(table, "%s",
                        oche_figure_bytes((uint64_t)bound(model, OCHE_THRESHOLD_STATIC)).text);
        oche_table_cell(table, "%s",
                        oche_figure_bytes((uint64_t)bound(model, OCHE_THRESHOLD_DYNAMIC)).text);
    }
    fprintf(out, "\nwith fewer priorities, %s %g:\n", in->by_beta ? "beta" : "alpha",
            in->by_beta ? in->beta : alpha(in));
    oche_table_print(table, out);
    oche_table_free(table);
}

/* The threshold that decides the exit status: the static one if xoff is given. */
static enum oche_buffer_threshold decides(const struct oche_buffers_input *in)
{
    return in->xoff_bytes > 0 ? OCHE_THRESHOLD_STATIC : OCHE_THRESHOLD_DYNAMIC;
}

static const char *const threshold_names[] = {
    [OCHE_THRESHOLD_STATIC] = "static", [OCHE_THRESHOLD_DYNAMIC] = "dynamic"};

/* Prints the limit of kmin to configure, with what it assumes. */
static void print_limit(struct model *model, FILE *out)
{
    const struct oche_buffers_input *in = model->input;
    const char *name = threshold_names[decides(in)];
    double limit = given_bound(model, decides(in));
    struct oche_figure most = number((uint64_t)limit);

    if (limit < model->config.mtu_frame_bytes)
        fprintf(out, "\nno kmin of a frame or more is sure (%s threshold): %s B", name, most.text);
    else
        fprintf(out, "\nconfigure kmin <= %s B (%s threshold): sure", most.text, name);
    fprintf(out, " with data in %s%u priorit%s, on any routes\n", in->priorities > 1 ? "all " : "",
            in->priorities, in->priorities > 1 ? "ies" : "y");
}

static void print_kmin(struct model *model, enum oche_buffer_threshold threshold, FILE *out)
{
    double kmin = (double)model->input->kmin_bytes, limit = given_bound(model, threshold);

    fprintf(out, "  %s threshold: %s; kmin may be at most %s B%s\n", threshold_names[threshold],
            kmin <= limit ? "ECN is sure to act before PFC" : "ECN may come after PFC",
            number((uint64_t)limit).text,
            limit < model->config.mtu_frame_bytes ? ", less than a frame" : "");
}

/* Returns the probability that a packet is marked at a queue of this length; NAN: not known. */
static double marked(const struct oche_buffers_input *in, double queue)
{
    if (queue > (double)in->kmax_bytes)
        return 1;
    if (in->kmin_bytes != OCHE_NEVER && queue <= (double)in->kmin_bytes)
        return 0;
    if (in->kmin_bytes == OCHE_NEVER || in->pmax < 0)
        return NAN;
    return in->pmax * (queue - (double)in->kmin_bytes) / (double)(in->kmax_bytes - in->kmin_bytes);
}

/* Prints one case: from which queue on PAUSEs come, and what is marked by then. */
static void print_case(const struct oche_buffers_input *in, const char *name, double queue,
                       FILE *out)
{
    double share = marked(in, queue);

    fprintf(out, "    %s: PAUSE from %s B on, ", name, number((uint64_t)queue).text);
    if (share >= 1)
        fprintf(out, "above kmax: every packet is marked by then\n");
    else if (isnan(share))
        fprintf(out, "before every packet is marked\n");
    else if (share > 0)
        fprintf(out, "before every packet is marked: %.3g %% are by then\n", 100 * share);
    else
        fprintf(out, "below kmin: none is marked by then\n");
}

static void print_kmax(struct model *model, FILE *out)
{
    static const enum oche_buffer_threshold both[] = {OCHE_THRESHOLD_DYNAMIC,
                                                      OCHE_THRESHOLD_STATIC};
    const struct oche_buffers_input *in = model->input;
    char name[64];

    fprintf(out, "\nkmax %s B: above it every packet is marked", number(in->kmax_bytes).text);
    if (in->pmax >= 0)
        fprintf(out, ", at it %.3g %%", 100 * in->pmax);
    fputc('\n', out);
    snprintf(name, sizeof(name), "one queue, incast of %u ports", in->ports - 1);
    for (size_t i = 0; i < OCHE_COUNT_OF(both); i++) {
        fprintf(out, "  %s threshold\n", threshold_names[both[i]]);
        if (in->ports > 2)
            print_case(in, name, incast_queue(model, both[i]), out);
        print_case(in, "worst case, all queues as long", given_bound(model, both[i]), out);
    }
}

/* Prints what a given kmin and kmax come to. Returns true if kmin is sure, or not given. */
static bool print_verdict(struct model *model, FILE *out)
{
    const struct oche_buffers_input *in = model->input;

    print_limit(model, out);
    if (in->kmax_bytes != OCHE_NEVER)
        print_kmax(model, out);
    if (in->kmin_bytes == OCHE_NEVER)
        return true;
    fprintf(out, "\nkmin %s B\n", number(in->kmin_bytes).text);
    print_kmin(model, OCHE_THRESHOLD_DYNAMIC, out);
    print_kmin(model, OCHE_THRESHOLD_STATIC, out);
    return (double)in->kmin_bytes <= given_bound(model, decides(in));
}

/* ---- as JSON ---- */

/* Returns the rows of print_priorities. Leaves the model with its own priorities. */
static struct json_object *priorities_json(struct model *model)
{
    struct json_object *list = oche_json_array(0);

    for (unsigned p = 1; p <= model->input->priorities; p++) {
        struct json_object *row = oche_json_object();

        set_priorities(model, p);
        struct oche_buffer_plan plan = oche_buffer_plan(&model->config);
        const bool fits = plan.headroom_total < model->input->buffer_bytes;

        oche_json_add_int(row, "priorities", p);
        oche_json_add_int(row, "headroom_total_bytes", plan.headroom_total);
        oche_json_add_int(row, "shared_bytes", fits ? plan.shared : 0);
        oche_json_add(row, "static_pfc_bytes", fits ? oche_json_int((int64_t)plan.xoff) : NULL);
        oche_json_add(row, "static_ecn_bytes",
                      oche_json_exact(fits ? bound(model, OCHE_THRESHOLD_STATIC) : NAN));
        oche_json_add(row, "dynamic_pfc_bytes",
                      oche_json_exact(fits ? plan.beta * (double)plan.shared / p : NAN));
        oche_json_add(row, "dynamic_ecn_bytes",
                      oche_json_exact(fits ? bound(model, OCHE_THRESHOLD_DYNAMIC) : NAN));
        oche_json_push(list, row);
    }
    return list;
}

static struct json_object *links_json(const struct model *model)
{
    const struct oche_buffers_input *in = model->input;
    struct json_object *list = oche_json_array(0);

    for (unsigned kind = 0, port = 0; kind < in->kinds; port += in->links[kind++].ports) {
        const struct oche_buffers_links *links = &in->links[kind];
        struct json_object *row = oche_json_object();

        oche_json_add_int(row, "ports", links->ports);
        oche_json_add_int(row, "rate_bps", links->rate_bps);
        oche_json_add(row, "delay_s", oche_json_exact((double)links->delay / (double)OCHE_SEC));
        oche_json_add(row, "cable_m", oche_json_exact(links->cable_m >= 0 ? links->cable_m : NAN));
        oche_json_add_int(row, "headroom_bytes", oche_buffer_headroom(&model->config, port));
        oche_json_add_int(row, "headroom_needed_bytes",
                          oche_buffer_headroom_needed(&model->config, port));
        oche_json_push(list, row);
    }
    return list;
}

struct json_object *oche_buffers_sizes_json(const struct oche_buffers_input *in, bool *yes)
{
    struct json_object *json = oche_json_object();
    struct model model;

    make(&model, in);
    const struct oche_buffer_plan plan = oche_buffer_plan(&model.config);
    const bool fits = plan.headroom_total < in->buffer_bytes;
    const bool enough = in->headroom_bytes >= needed(&model);
    const double kmin = in->kmin_bytes == OCHE_NEVER ? NAN : (double)in->kmin_bytes;
    const bool dynamic = fits && !(kmin > bound(&model, OCHE_THRESHOLD_DYNAMIC));
    const bool fixed = fits && !(kmin > given_bound(&model, OCHE_THRESHOLD_STATIC));
    const bool incast = fits && in->ports > 2;
    const bool sure = decides(in) == OCHE_THRESHOLD_STATIC ? fixed : dynamic;

    oche_json_add_text(json, "kind", "buffers");
    oche_json_add_text(json, "chip", in->chip);
    oche_json_add_int(json, "buffer_bytes", in->buffer_bytes);
    oche_json_add_int(json, "ports", in->ports);
    oche_json_add_int(json, "priorities", in->priorities);
    oche_json_add(json, "beta", oche_json_exact(in->beta));
    oche_json_add(json, "alpha", oche_json_exact(alpha(in)));
    oche_json_add(json, "response_s", oche_json_exact((double)in->response / (double)OCHE_SEC));
    oche_json_add_int(json, "mtu_bytes", in->mtu_bytes);
    oche_json_add_int(json, "frame_bytes", model.config.mtu_frame_bytes);
    oche_json_add(json, "links", links_json(&model));
    oche_json_add(json, "headroom_fits", oche_json_truth(fits));
    oche_json_add(json, "headroom_enough", oche_json_truth(enough));
    oche_json_add(json, "by_priorities", priorities_json(&model));
    oche_json_add(json, "kmin_bytes", oche_json_exact(kmin));
    oche_json_add(json, "kmax_bytes",
                  in->kmax_bytes == OCHE_NEVER ? NULL : oche_json_int((int64_t)in->kmax_bytes));
    oche_json_add(json, "pmax", in->pmax < 0 ? NULL : oche_json_exact(in->pmax));
    oche_json_add(json, "xoff_bytes",
                  in->xoff_bytes == 0 ? NULL : oche_json_int((int64_t)in->xoff_bytes));
    oche_json_add(json, "incast_pauses_from_dynamic_bytes",
                  oche_json_exact(incast ? incast_queue(&model, OCHE_THRESHOLD_DYNAMIC) : NAN));
    oche_json_add(json, "incast_pauses_from_static_bytes",
                  oche_json_exact(incast ? incast_queue(&model, OCHE_THRESHOLD_STATIC) : NAN));
    oche_json_add(json, "kmin_sure_dynamic", isnan(kmin) ? NULL : oche_json_truth(dynamic));
    oche_json_add(json, "kmin_sure_static", isnan(kmin) ? NULL : oche_json_truth(fixed));
    *yes = fits && enough && sure && xoff_fits(&model);
    oche_json_add(json, "yes", oche_json_truth(*yes));
    free(model.ports);
    return json;
}

bool oche_buffers_print_sizes(const struct oche_buffers_input *input, FILE *out)
{
    struct model model;
    bool yes;

    make(&model, input);
    print_switch(&model, out);
    print_headroom(&model, out);
    yes = print_shared(&model, out);
    if (yes) {
        print_thresholds(&model, out);
        if (input->priorities > 1)
            print_priorities(&model, out);
        yes = print_verdict(&model, out);
        yes &= input->headroom_bytes >= needed(&model) && xoff_fits(&model);
    }
    free(model.ports);
    return yes;
}
