// SPDX-License-Identifier: GPL-2.0
/*
 * The order in which groups are tried.
 *
 * A group queue is a list of group leaders in ascending sequence number.  A new group goes to the
 * tail with the highest number so far; rotation moves the head to the tail and gives it a new
 * number.  Both are O(1) because numbers only ever grow: the owner (a context) hands them out and
 * never reuses one, so a queue never has to search for the place of a node.
 *
 * A task context tries the groups of two queues, those of any CPU and those of the CPU it runs on;
 * a CPU context those of the CPU and of each cgroup that the CPU is in.  The cursor visits all in
 * one ascending walk, so that no group is preferred for the queue it is in.  With equal numbers,
 * which one context never makes, the queue that was added first goes first.  The state of the walk
 * is kept in the queues, so that their number has no limit; a queue is in one walk at a time.
 *
 * This file is pure: plain lists, no locks, no knowledge of events.  The callers (sched.c,
 * rotate.c) hold the lock of the context that owns the queues, irqs off.
 *
 * The cursor looks one node ahead of each queue.  During a walk the node that was returned last,
 * and any before it, may stay or be removed; nodes that are still to come must not move.
 */
#include <linux/bug.h>
#include "sched.h"

static struct queue_node *node_of(struct list_head *link)
{
	return list_entry(link, struct queue_node, link);
}

/**
 * group_queue_init() - make an empty queue
 * @queue: it
 */
void group_queue_init(struct group_queue *queue)
{
	INIT_LIST_HEAD(&queue->head);
}

/**
 * group_queue_append() - put a group at the tail
 * @queue: where to
 * @node: the group's node, in no queue
 * @seq: its sequence number, higher than any in the queue
 */
void group_queue_append(struct group_queue *queue, struct queue_node *node, u64 seq)
{
	WARN_ON_ONCE(!list_empty(&queue->head) && node_of(queue->head.prev)->seq >= seq);

	node->seq = seq;
	list_add_tail(&node->link, &queue->head);
}

/**
 * group_queue_remove() - take a group out of the queue it is in
 * @node: the group's node
 */
void group_queue_remove(struct queue_node *node)
{
	list_del_init(&node->link);
}

/**
 * group_queue_replace() - a group takes the place of another one
 * @old: the node of that, in a queue
 * @node: the group's node, in no queue
 */
void group_queue_replace(struct queue_node *old, struct queue_node *node)
{
	node->seq = old->seq;
	list_replace_init(&old->link, &node->link);
}

/**
 * group_queue_empty() - is there no group?
 * @queue: it
 */
bool group_queue_empty(const struct group_queue *queue)
{
	return list_empty(&queue->head);
}

/**
 * group_queue_first() - the group whose turn it is
 * @queue: it
 *
 * Return: the node with the lowest number, or NULL.
 */
struct queue_node *group_queue_first(const struct group_queue *queue)
{
	return list_empty(&queue->head) ? NULL : node_of(queue->head.next);
}

/**
 * queue_cursor_init() - start a walk over some queues of one context
 * @cur: the cursor
 */
void queue_cursor_init(struct queue_cursor *cur)
{
	cur->first = NULL;
	cur->last = &cur->first;
}

/**
 * queue_cursor_add() - let a queue take part in a walk that has not begun
 * @cur: the cursor
 * @queue: a queue that is not walked already
 */
void queue_cursor_add(struct queue_cursor *cur, struct group_queue *queue)
{
	queue->next = group_queue_first(queue);
	queue->other = NULL;
	*cur->last = queue;
	cur->last = &queue->other;
}

/**
 * queue_cursor_next() - step of a walk
 * @cur: the cursor
 *
 * Return: the node with the lowest number that was not returned yet, or NULL at the end.
 */
struct queue_node *queue_cursor_next(struct queue_cursor *cur)
{
	struct group_queue *queue, *lowest = NULL;
	struct queue_node *node;

	for (queue = cur->first; queue; queue = queue->other)
		if (queue->next && (!lowest || queue->next->seq < lowest->next->seq))
			lowest = queue;
	if (!lowest)
		return NULL;
	node = lowest->next;
	lowest->next = list_is_last(&node->link, &lowest->head) ? NULL : node_of(node->link.next);
	return node;
}
