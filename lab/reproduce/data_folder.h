/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files are that come with the program: scenarios and papers. */
#ifndef OCHE_LAB_REPRODUCE_DATA_FOLDER_H
#define OCHE_LAB_REPRODUCE_DATA_FOLDER_H

/*
 * Returns the path of a folder such as "papers" (malloc'd): in the sources, if the program runs
 * where it was built, or where the whole tree was copied to; else where `make install` put it. It
 * may be that there is none.
 */
char *oche_data_folder(const char *name);

#endif
