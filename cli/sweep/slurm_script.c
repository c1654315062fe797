/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The printed script has two uses. Run by hand, it submits itself to Slurm as an array of tasks,
 * and a merge that waits for the array. Run by Slurm, with SLURM_ARRAY_TASK_ID, it runs the points
 * of that task. A task writes files of points into a folder that all machines share; only the merge
 * writes the results file.
 */
#include "cli/sweep/slurm_script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/variants.h"
#include "lab/sweep/grid_text.h"
#include "params/error.h"

#define PATH_BYTES 4096

static void print_array(const struct oche_grid *grid, const char *program, const char *folder,
                        FILE *out)
{
    char *options = oche_grid_text(grid);

    fputs("sweep=(", out);
    oche_shell_word(program, out);
    fputs(" sweep ", out);
    oche_shell_word(grid->scenario, out);
    fprintf(out, " %s --out ", options);
    oche_shell_word(folder, out);
    fputs(")\nout=", out);
    oche_shell_word(folder, out);
    fputs("\n", out);
    free(options);
}

static const char head[] =
    "#\n"
    "#   bash THIS [SBATCH-OPTION...]   submits the array, and a job that merges when it is over\n"
    "#   sbatch THIS                    submits the array alone; merge with oche sweep ... "
    "--merge\n"
    "#   SLURM_ARRAY_TASK_ID=0 bash THIS   runs the first task here\n"
    "#\n"
    "# The folder of the results must be one that all machines share. Submitted again, it runs "
    "what\n"
    "# is not done yet.\n";

static const char body[] =
    "if [ -n \"${SLURM_ARRAY_TASK_ID-}\" ]; then\n"
    "    exec \"${sweep[@]}\" --point \"$SLURM_ARRAY_TASK_ID/$tasks\" \\\n"
    "        --jobs \"${SLURM_CPUS_PER_TASK:-1}\"\n"
    "fi\n"
    "mkdir -p \"$out/slurm\"\n"
    "array=$(sbatch --parsable --output=\"$out/slurm/%a.out\" \"$@\" \"$0\")\n"
    "merge=$(sbatch --parsable --output=\"$out/slurm/merge.out\" \"$@\" --job-name=\"$name-merge\" "
    "\\\n"
    "    --dependency=\"afterany:${array%%;*}\" --wrap \"$(printf '%q ' \"${sweep[@]}\" "
    "--merge)\")\n"
    "echo \"array job ${array%%;*}, merge job ${merge%%;*}, results in $out\"\n";

bool oche_slurm_script_print(const struct oche_grid *grid, const char *folder, size_t tasks,
                             unsigned jobs, FILE *out, struct oche_error *error)
{
    const size_t points = oche_grid_points(grid);
    char program[PATH_BYTES], here[PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (length < 0 || getcwd(here, sizeof(here)) == NULL)
        return oche_fail(error, "--slurm: cannot tell where the program and we are: %s",
                         strerror(errno));
    program[length] = '\0';
    if (tasks == 0)
        tasks = points < OCHE_SLURM_MOST_TASKS ? points : OCHE_SLURM_MOST_TASKS;
    if (tasks > points)
        tasks = points;
    char *name = oche_file_name_of(grid->name);

    fprintf(out, "#!/bin/bash\n#SBATCH --job-name=oche-%s\n#SBATCH --array=0-%zu\n", name,
            tasks - 1);
    fprintf(out, "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%u\n", jobs > 0 ? jobs : 1);
    fprintf(out, "# %zu points of a sweep in %zu tasks.\n", points, tasks);
    fputs(head, out);
    fputs("set -eu\ncd ", out);
    oche_shell_word(here, out);
    fprintf(out, "\nname=oche-%s\ntasks=%zu\n", name, tasks);
    print_array(grid, program, folder, out);
    fputs(body, out);
    free(name);
    return true;
}
