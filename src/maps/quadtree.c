/* xlm-mpi: points of a plane in a quadtree, for sums over all of them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/quadtree.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { LEVELS = 16, FEW = 12 }; /* of cuts; points of a cell that is not cut */

/* Cells in the order in which they are walked: the parts of a cell follow it. */
typedef struct cell {
    double x, y, squared_side; /* the centre of mass */
    double points;
    int32_t begin, end; /* its points, in their order */
    int32_t next;       /* the cell after all its parts */
    bool cut;
} cell;

struct xlm_quadtree {
    int64_t n;
    uint64_t *codes; /* [n] bits of both coordinates in turns, and in the lower half the point's number */
    int32_t *order;
    double *x, *y; /* [n] in this order */
    cell *cells;
    int32_t used, room;
    double side;
};

xlm_quadtree *xlm_quadtree_new(int64_t n)
{
    xlm_quadtree *t = g_new0(xlm_quadtree, 1);
    t->n = n;
    t->codes = g_new(uint64_t, MAX(n, 1));
    t->order = g_new(int32_t, MAX(n, 1));
    t->x = g_new(double, MAX(n, 1));
    t->y = g_new(double, MAX(n, 1));
    return t;
}

void xlm_quadtree_free(xlm_quadtree *tree)
{
    if (tree == NULL)
        return;
    g_free(tree->codes);
    g_free(tree->order);
    g_free(tree->x);
    g_free(tree->y);
    g_free(tree->cells);
    g_free(tree);
}

const int32_t *xlm_quadtree_order(const xlm_quadtree *tree) { return tree->order; }

/* Put a 0 before each of 16 bits. */
static uint32_t spread(uint32_t bits)
{
    bits = (bits | bits << 8) & 0x00FF00FFu;
    bits = (bits | bits << 4) & 0x0F0F0F0Fu;
    bits = (bits | bits << 2) & 0x33333333u;
    return (bits | bits << 1) & 0x55555555u;
}

static uint32_t place_of(double value, double min, double side)
{
    const double steps = side > 0 ? (value - min) / side * (1 << LEVELS) : 0;
    return (uint32_t)CLAMP(steps, 0, (1 << LEVELS) - 1);
}

/* By code, points of one code by number. */
static int by_code(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The end of the points from `begin` on whose code has at most this digit at a level. */
static int32_t end_of_part(const xlm_quadtree *t, int32_t begin, int32_t end, int level, uint32_t digit)
{
    const int shift = 32 + 2 * (LEVELS - 1 - level);
    while (begin < end) {
        const int32_t middle = begin + (end - begin) / 2;
        if ((t->codes[middle] >> shift & 3) <= digit)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static int32_t add_cell(xlm_quadtree *t, int32_t begin, int32_t end, int level)
{
    if (t->used == t->room) {
        t->room = MAX(256, 2 * t->room);
        t->cells = g_renew(cell, t->cells, t->room);
    }
    const int32_t own = t->used++;
    const double side = ldexp(t->side, -level);
    cell c = {.begin = begin, .end = end, .points = end - begin, .squared_side = side * side,
              .cut = end - begin > FEW && level < LEVELS};
    if (c.cut) {
        for (uint32_t digit = 0; digit < 4; digit++) {
            const int32_t stop = end_of_part(t, begin, end, level, digit);
            if (stop > begin) {
                const int32_t part = add_cell(t, begin, stop, level + 1);
                c.x += t->cells[part].x * t->cells[part].points;
                c.y += t->cells[part].y * t->cells[part].points;
            }
            begin = stop;
        }
    } else {
        for (int32_t i = begin; i < end; i++)
            c.x += t->x[i], c.y += t->y[i];
    }
    c.x /= c.points;
    c.y /= c.points;
    c.next = t->used;
    t->cells[own] = c;
    return own;
}

void xlm_quadtree_build(xlm_quadtree *tree, const double *y)
{
    xlm_quadtree *t = tree;
    double min[2] = {INFINITY, INFINITY}, max[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < 2 * t->n; i++)
        min[i % 2] = fmin(min[i % 2], y[i]), max[i % 2] = fmax(max[i % 2], y[i]);
    t->side = fmax(max[0] - min[0], max[1] - min[1]);
    for (int64_t i = 0; i < t->n; i++)
        t->codes[i] = (uint64_t)(spread(place_of(y[2 * i], min[0], t->side)) << 1 |
                                 spread(place_of(y[2 * i + 1], min[1], t->side))) << 32 | (uint64_t)i;
    qsort(t->codes, (size_t)t->n, sizeof *t->codes, by_code);
    for (int64_t i = 0; i < t->n; i++) {
        t->order[i] = (int32_t)t->codes[i];
        t->x[i] = y[2 * t->order[i]];
        t->y[i] = y[2 * t->order[i] + 1];
    }
    t->used = 0;
    if (t->n > 0)
        add_cell(t, 0, (int32_t)t->n, 0);
}

double xlm_quadtree_repulsion(const xlm_quadtree *tree, int64_t place, double theta, double force[2])
{
    const xlm_quadtree *t = tree;
    const double x = t->x[place], y = t->y[place], squared_theta = theta * theta;
    double sum = 0, fx = 0, fy = 0;
    for (int32_t at = 0; at < t->used;) {
        const cell *c = &t->cells[at];
        const double dx = x - c->x, dy = y - c->y, squared = dx * dx + dy * dy;
        if (c->squared_side < squared_theta * squared && (place < c->begin || place >= c->end)) {
            const double w = 1 / (1 + squared), each = c->points * w, both = each * w;
            sum += each;
            fx += both * dx;
            fy += both * dy;
            at = c->next;
        } else if (c->cut) {
            at++;
        } else {
            double part = 0, px = 0, py = 0;
#pragma omp simd reduction(+ : part, px, py)
            for (int32_t j = c->begin; j < c->end; j++) {
                const double ex = x - t->x[j], ey = y - t->y[j], w = 1 / (1 + ex * ex + ey * ey);
                part += w;
                px += w * w * ex;
                py += w * w * ey;
            }
            sum += part;
            fx += px;
            fy += py;
            at = c->next;
        }
    }
    force[0] = fx;
    force[1] = fy;
    return sum - 1; /* without itself */
}
