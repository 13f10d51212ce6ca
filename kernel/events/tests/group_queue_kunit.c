// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the group queue and the cursor that merges two queues.
 *
 * Pure list code, so plain arrays of nodes stand for groups.  Every test states the whole order
 * that must come out, not only its first element.
 */
#include <kunit/test.h>
#include "../sched/sched.h"

#define NR_NODES	6

struct fixture {
	struct group_queue	a, b;
	struct queue_node	node[NR_NODES];
	u64			seq;
};

static int setup(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	int i;

	if (!f)
		return -ENOMEM;
	group_queue_init(&f->a);
	group_queue_init(&f->b);
	for (i = 0; i < NR_NODES; i++)
		INIT_LIST_HEAD(&f->node[i].link);
	test->priv = f;
	return 0;
}

/* The numbers of the nodes that a walk returns, as decimal digits: 0, 2, 1 is "021". */
static void walk(struct fixture *f, struct group_queue *a, struct group_queue *b, char *out)
{
	struct queue_cursor cur;
	struct queue_node *n;

	queue_cursor_init(&cur);
	if (a)
		queue_cursor_add(&cur, a);
	if (b)
		queue_cursor_add(&cur, b);
	while ((n = queue_cursor_next(&cur)))
		*out++ = '0' + (n - f->node);
	*out = '\0';
}

static void empty_queue(struct kunit *test)
{
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];

	KUNIT_EXPECT_TRUE(test, group_queue_empty(&f->a));
	KUNIT_EXPECT_PTR_EQ(test, group_queue_first(&f->a), NULL);
	walk(f, &f->a, &f->b, order);
	KUNIT_EXPECT_STREQ(test, order, "");
	walk(f, &f->a, NULL, order);
	KUNIT_EXPECT_STREQ(test, order, "");
	walk(f, NULL, NULL, order);
	KUNIT_EXPECT_STREQ(test, order, "");
}

static void append_and_remove(struct kunit *test)
{
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];
	int i;

	for (i = 0; i < 4; i++)
		group_queue_append(&f->a, &f->node[i], ++f->seq);
	KUNIT_EXPECT_FALSE(test, group_queue_empty(&f->a));
	KUNIT_EXPECT_PTR_EQ(test, group_queue_first(&f->a), &f->node[0]);
	KUNIT_EXPECT_EQ(test, f->node[3].seq, 4ULL);
	walk(f, &f->a, NULL, order);
	KUNIT_EXPECT_STREQ(test, order, "0123");

	group_queue_remove(&f->node[2]);
	walk(f, &f->a, NULL, order);
	KUNIT_EXPECT_STREQ(test, order, "013");
	group_queue_remove(&f->node[0]);
	group_queue_remove(&f->node[3]);
	walk(f, &f->a, NULL, order);
	KUNIT_EXPECT_STREQ(test, order, "1");
	group_queue_remove(&f->node[1]);
	KUNIT_EXPECT_TRUE(test, group_queue_empty(&f->a));

	/* a removed node can be used again */
	group_queue_append(&f->a, &f->node[2], ++f->seq);
	walk(f, &f->a, NULL, order);
	KUNIT_EXPECT_STREQ(test, order, "2");
}

/* What rotate.c does with the group that is first. */
static void first_to_end(struct group_queue *queue, u64 seq)
{
	struct queue_node *node = group_queue_first(queue);

	group_queue_remove(node);
	group_queue_append(queue, node, seq);
}

static void rotate_visits_all(struct kunit *test)
{
	static const char * const expected[] = { "120", "201", "012", "120" };
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];
	int i;

	for (i = 0; i < 3; i++)
		group_queue_append(&f->a, &f->node[i], ++f->seq);
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		first_to_end(&f->a, ++f->seq);
		walk(f, &f->a, NULL, order);
		KUNIT_EXPECT_STREQ(test, order, expected[i]);
	}
	/* four rotations after three appends: the last one moved node 0 and numbered it 7 */
	KUNIT_EXPECT_EQ(test, f->node[0].seq, 7ULL);
	KUNIT_EXPECT_EQ(test, f->node[1].seq, 5ULL);
	KUNIT_EXPECT_EQ(test, f->node[2].seq, 6ULL);
}

static void rotate_single(struct kunit *test)
{
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];

	group_queue_append(&f->a, &f->node[5], ++f->seq);
	first_to_end(&f->a, ++f->seq);
	walk(f, &f->a, NULL, order);
	KUNIT_EXPECT_STREQ(test, order, "5");
	KUNIT_EXPECT_EQ(test, f->node[5].seq, 2ULL);
}

static void merge_by_number(struct kunit *test)
{
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];

	group_queue_append(&f->a, &f->node[0], 1);
	group_queue_append(&f->b, &f->node[1], 2);
	group_queue_append(&f->b, &f->node[2], 3);
	group_queue_append(&f->a, &f->node[3], 4);
	group_queue_append(&f->a, &f->node[4], 5);
	group_queue_append(&f->b, &f->node[5], 6);
	walk(f, &f->a, &f->b, order);
	KUNIT_EXPECT_STREQ(test, order, "012345");
	walk(f, &f->b, &f->a, order);
	KUNIT_EXPECT_STREQ(test, order, "012345");
	walk(f, NULL, &f->b, order);
	KUNIT_EXPECT_STREQ(test, order, "125");

	/* what was first is last in the merged order too */
	first_to_end(&f->a, 7);
	walk(f, &f->a, &f->b, order);
	KUNIT_EXPECT_STREQ(test, order, "123450");
}

/* No context makes equal numbers. If there are some, the queue that was added first goes first. */
static void equal_numbers(struct kunit *test)
{
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];

	group_queue_append(&f->a, &f->node[0], 1);
	group_queue_append(&f->b, &f->node[1], 1);
	walk(f, &f->a, &f->b, order);
	KUNIT_EXPECT_STREQ(test, order, "01");
	walk(f, &f->b, &f->a, order);
	KUNIT_EXPECT_STREQ(test, order, "10");
}

static void numbers_use_all_bits(struct kunit *test)
{
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];

	group_queue_append(&f->a, &f->node[0], BIT_ULL(63));
	group_queue_append(&f->b, &f->node[1], BIT_ULL(32) - 1);
	group_queue_append(&f->b, &f->node[2], U64_MAX);
	walk(f, &f->a, &f->b, order);
	KUNIT_EXPECT_STREQ(test, order, "102");
}

/* Scheduling may take out the group it was just given, and leave others in. */
static void remove_while_walking(struct kunit *test)
{
	struct fixture *f = test->priv;
	char order[NR_NODES + 1];
	struct queue_cursor cur;
	struct queue_node *n;
	int i, nr = 0;

	for (i = 0; i < NR_NODES; i++)
		group_queue_append(i % 2 ? &f->a : &f->b, &f->node[i], ++f->seq);
	queue_cursor_init(&cur);
	queue_cursor_add(&cur, &f->a);
	queue_cursor_add(&cur, &f->b);
	while ((n = queue_cursor_next(&cur))) {
		KUNIT_EXPECT_PTR_EQ(test, n, &f->node[nr]);
		if (nr++ % 3 == 0)
			group_queue_remove(n);
	}
	KUNIT_EXPECT_EQ(test, nr, NR_NODES);
	KUNIT_EXPECT_PTR_EQ(test, queue_cursor_next(&cur), NULL);
	walk(f, &f->a, &f->b, order);
	KUNIT_EXPECT_STREQ(test, order, "1245");
}

/* A cursor that has been used knows nothing of the walk before, even if nobody takes part. */
static void walk_begins_anew(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct queue_cursor cur;

	group_queue_append(&f->a, &f->node[0], 1);
	queue_cursor_init(&cur);
	queue_cursor_add(&cur, &f->a);
	queue_cursor_init(&cur);
	KUNIT_EXPECT_NULL(test, queue_cursor_next(&cur));
}

static struct kunit_case group_queue_cases[] = {
	KUNIT_CASE(empty_queue),
	KUNIT_CASE(append_and_remove),
	KUNIT_CASE(rotate_visits_all),
	KUNIT_CASE(rotate_single),
	KUNIT_CASE(merge_by_number),
	KUNIT_CASE(equal_numbers),
	KUNIT_CASE(numbers_use_all_bits),
	KUNIT_CASE(remove_while_walking),
	KUNIT_CASE(walk_begins_anew),
	{}
};

static struct kunit_suite group_queue_suite = {
	.name = "perf_group_queue",
	.init = setup,
	.test_cases = group_queue_cases,
};

kunit_test_suite(group_queue_suite);
MODULE_DESCRIPTION("KUnit tests of the performance-events group queue");
MODULE_LICENSE("GPL");
