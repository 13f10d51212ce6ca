# SPDX-License-Identifier: GPL-2.0
"""Sphinx: which of the pages are manual pages, too, and how those are called."""
project = "perf_events"
author = "its authors"
highlight_language = "none"
# (page, name, what it is, authors, section)
man_pages = [
    ("extensions", "perf_event_ext", "ioctls of performance events beyond Linux 6.12", "", 2),
    ("features", "perf_event_features", "perf_event_open(2), feature by feature", "", 7),
    ("records", "perf_event_records", "records and samples of performance events", "", 7),
    ("fdinfo", "perf_event_fdinfo", "what fdinfo tells of an event, and last_error", "", 5),
    ("formats", "perf_event_formats", "formats of samples as modules of the kernel", "", 9),
]
