/* xlm-mpi: event files that TensorBoard shows. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file DIRECTORY/events.out.tfevents.<seconds, 10 digits>.<host>.<process> has records, each
 *   u64 length, u32 masked CRC-32C of these 8 bytes, [length] bytes, u32 masked CRC-32C of these bytes
 * in little-endian order (TensorFlow's core/lib/io/record_writer.cc). The bytes of a record are one message Event of
 * core/util/event.proto and core/framework/summary.proto in the encoding of Protocol Buffers:
 *   Event      1: double wall_time, 2: int64 step, 3: string file_version, 5: Summary summary, 7: SessionLog session_log
 *   Summary    1: repeated Value value; Value 1: string tag, 2: float simple_value
 *   SessionLog 1: status, START = 1
 * The first record has file_version "brain.Event:2", the second the status START with the first step that the file may have
 * values of: TensorBoard then drops those that earlier files of the directory, in the order of their names, have of this step and
 * later ones, so that a run that is resumed has each point once.
 *
 * protobuf-c and its compiler would be dependencies of every build, for seven fields that are written and never read. */
#ifndef XLM_RUN_EVENTS_H
#define XLM_RUN_EVENTS_H

#include "base/error.h"

typedef struct xlm_events xlm_events;

/* Make the directory if it is missing, and a new file in it that begins at first_step, and write its first records. [out] others:
 * files of events were there before; may be NULL. EX_CANTCREAT: the error names the directory or the file. */
xlm_events *xlm_events_open(const char *directory, int64_t first_step, bool *others, GError **error);
/* NULL is allowed. Values that were not flushed are lost. */
void xlm_events_close(xlm_events *events);
const char *xlm_events_path(const xlm_events *events);

/* A value of a curve, with the time of now; steps do not fall. TensorBoard groups curves by what is before the first '/'. */
void xlm_events_add(xlm_events *events, int64_t step, const char *tag, double value);
/* Write the values so far, in whole records. False with errno: the file may end in a part of a record, after which a reader finds
 * nothing; close it. */
bool xlm_events_flush(xlm_events *events);

#endif
