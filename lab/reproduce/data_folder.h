/* SPDX-License-Identifier: Apache-2.0 */
/* The folders of files that come with the program: scenarios and papers. */
#ifndef OCHE_LAB_REPRODUCE_DATA_FOLDER_H
#define OCHE_LAB_REPRODUCE_DATA_FOLDER_H

/*
 * Returns the path of a folder such as "papers" (malloc'd). If the program runs in its build tree,
 * or in a copy of the whole tree, this is a folder of the sources; otherwise the folder of `make
 * install`. The folder may not exist.
 */
char *oche_data_folder(const char *name);

#endif
