// A plugin of qemu's user emulation that counts ways: runs of blocks that a thread executes one after
// another, forward in one function. A way ends where the thread jumps back, or to another function. So each
// iteration of a loop is a way, and so is what a function does before and after its loops.
//
// At exit it writes a line for each way to the file out=NAME: its count, and address:bytes of each block.
// The few declarations below are those of the interface that it uses.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin, void (*)(plugin, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int flags, void *);
void qemu_plugin_register_atexit_cb(plugin, void (*)(plugin, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *);

__attribute__((visibility("default"))) int qemu_plugin_version = VERSION;

enum { threads = 256, longest = 64 };

struct block {
	uint64_t at, bytes;
	const char *symbol;
};

// node is a way: that of its parent and one block more. Node 0 is the empty way.
struct node {
	uint32_t parent, length;
	struct block *last;
	uint64_t count;
};

// state is that of one thread.
struct state {
	uint32_t now, nodes, room;
	struct node *node;
	uint32_t *slot; // a table of 2*room of nodes by parent and last block; 0 is free
} all[threads];

static const char *out;

static uint32_t place(struct state *s, uint32_t parent, struct block *b) {
	uint64_t h = ((uintptr_t)b >> 4) * 0x9e3779b97f4a7c15u + parent * 0xc2b2ae3d27d4eb4fu;
	uint32_t mask = 2 * s->room - 1, i = (h ^ h >> 32) & mask;
	for (;; i = (i + 1) & mask) {
		struct node *n = &s->node[s->slot[i]];
		if (s->slot[i] == 0 || (n->parent == parent && n->last == b))
			return i;
	}
}

static void grow(struct state *s) {
	s->room = s->room ? 2 * s->room : 1024;
	s->node = realloc(s->node, s->room * sizeof *s->node);
	if (s->nodes == 0)
		s->node[s->nodes++] = (struct node){0};
	free(s->slot);
	s->slot = calloc(2 * s->room, sizeof *s->slot);
	for (uint32_t i = 1; i < s->nodes; i++)
		s->slot[place(s, s->node[i].parent, s->node[i].last)] = i;
}

static void executed(unsigned thread, void *data) {
	struct block *b = data;
	struct state *s = &all[thread % threads];
	if (s->nodes + 1 >= s->room)
		grow(s);
	struct node *n = &s->node[s->now];
	if (s->now && (b->at <= n->last->at || b->symbol != n->last->symbol || n->length == longest)) {
		n->count++;
		s->now = 0;
	}
	uint32_t i = place(s, s->now, b);
	if (s->slot[i] == 0) {
		s->node[s->nodes] = (struct node){s->now, s->node[s->now].length + 1, b, 0};
		s->slot[i] = s->nodes++;
	}
	s->now = s->slot[i];
}

static void translated(plugin id, struct qemu_plugin_tb *tb) {
	struct block *b = calloc(1, sizeof *b);
	b->at = qemu_plugin_tb_vaddr(tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		b->bytes += qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
	b->symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(tb, 0));
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, b);
}

static void print(FILE *f, struct state *s, uint32_t i) {
	if (i == 0)
		return;
	print(f, s, s->node[i].parent);
	fprintf(f, " %" PRIx64 ":%" PRIx64, s->node[i].last->at, s->node[i].last->bytes);
}

static void ended(plugin id, void *data) {
	FILE *f = fopen(out, "w");
	if (!f)
		return;
	for (struct state *s = all; s < all + threads; s++)
		for (uint32_t i = 1; i < s->nodes; i++)
			if (s->node[i].count) {
				fprintf(f, "%" PRIu64, s->node[i].count);
				print(f, s, i);
				fputc('\n', f);
			}
	fclose(f);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin id, const void *info, int argc, char **argv) {
	if (argc != 1 || strncmp(argv[0], "out=", 4) != 0)
		return -1;
	out = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
