"""Fairlets of two groups: the cheapest partition into small sets that each have about the balance of the table.

The R rows of the rarer group are called reds, and the B other rows blues. Every fairlet has one red and floor(B/R) or ceil(B/R)
blues. The cost of a fairlet is the sum of the squared distances of its blues to its red. The (1, t')-fairlets of Chierichetti,
Kumar, Lattanzi and Vassilvitskii (NeurIPS 2017) are the same if B/R is a whole number. Otherwise, a (1, t')-fairlet may also
have one blue and several reds.

Finding the cheapest fairlets is a minimum-cost flow problem. It is first solved on a few arcs, between near pairs. The prices
of the solution show which absent arcs could lower the cost. These are added, and the problem is solved again. Once no absent
arc could lower the cost, the flow is optimal over all pairs.

For large tables, the first prices come from an auction (Bertsekas and Castanon, 1989), which affects only the time. Costs are
rounded to whole numbers of up to 40 bits. For these, the optimum is exact, and the same on every processor.
"""

from math import frexp

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.instances import checked_instances, counts_of_two
from clusterlets.algorithms.kernels import tiles_of

#: Bits of the largest cost. No price exceeds the length of a path of 2 n arcs, so prices stay below 2^63 up to n = 4 million.
BITS = 40
#: Each point starts with arcs to this many nearest points of the other group. Each later round adds at most as many per blue.
NEIGHBOURS = 16

# Steps by which bids in the auction change prices, as multiples of the mean squared distance to the nearest red.
_STEPS = (256.0, 64.0, 16.0, 4.0, 1.0, 0.25, 0.0625)
_MAX_BIDS = 100  # per blue, at each of these steps

#: Up to this many pairs, shortest paths are faster without an auction first.
MAX_PAIRS = 1_000_000

_FAR = np.int64(2**62)  # larger than any cost, price or distance
_LANES = 128  # rows per tile, as in tiles_of
_MAX_ROUNDING_ERROR = 1e3  # of cost - price in double precision, in the unit of the whole-number costs


def fairlet_decomposition(X: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Fairlet (n,) of each row in a cheapest decomposition. Fairlets are numbered 0..R-1 in the order of their reds.

    Takes ``X`` (n, d) and ``groups`` (n,), which are 0 or 1. If the groups are equally frequent, 0 counts as the rarer one.
    Raises ClusterletsError if there are not exactly two groups, or if features are not finite or too large to square.

    Notes
    -----
    Exact for any n, with costs rounded to 2^-40 of the squared diagonal of the box around the instances. Flows are found by
    successive shortest paths on the sparse graph. Each search for absent arcs takes O(R B d) time. Memory is
    O(n (d + arcs per point)), never O(R B). A table of 19,020 rows took 5 s, and one of 48,842 rows 30 to 40 s, mostly for the
    auction.
    """
    X, groups = checked_instances(X, groups, "fairlets")
    counts = counts_of_two(groups)
    rarer = int(counts.argmin())
    reds, blues = np.flatnonzero(groups == rarer), np.flatnonzero(groups != rarer)
    fairlets = np.empty(len(X), dtype=np.int64)
    fairlets[reds] = np.arange(len(reds))
    fairlets[blues] = cheapest_reds(X[reds], X[blues])
    return fairlets


def cheapest_reds(reds: np.ndarray, blues: np.ndarray) -> np.ndarray:
    """The red (B,) of each blue, such that every red has floor(B/R) or ceil(B/R) blues and the total cost is the lowest.

    Takes ``reds`` (R, d) and ``blues`` (B, d), with R at most B. See :func:`fairlet_decomposition`.
    """
    n_reds, n_blues = len(reds), len(blues)
    widths = np.maximum(reds.max(axis=0), blues.max(axis=0)) - np.minimum(reds.min(axis=0), blues.min(axis=0))
    squared_diagonal = float(np.square(widths).sum())
    scale = 2.0 ** (BITS - frexp(squared_diagonal)[1]) if squared_diagonal > 0 else 1.0
    n_slots = -(-n_blues // n_reds)
    n_spare = n_reds * n_slots - n_blues  # slots that stay empty, at most one per red
    red_of, spare = np.full(n_blues, -1), np.zeros(n_reds, dtype=np.bool_)  # -1: no red yet
    prices = _first_prices(reds, blues, scale, n_slots, n_spare)
    spare[np.argsort(-prices, kind="stable")[:n_spare]] = True  # at the reds whose slots cost least
    arcs = _first_arcs(reds, blues, prices, scale)
    blue_prices, n_former_arcs = np.empty(n_blues, dtype=np.int64), 0
    while len(arcs) > n_former_arcs:
        n_former_arcs = len(arcs)
        starts, columns = np.searchsorted(arcs, np.arange(n_blues + 1) * n_reds), arcs % n_reds
        costs = np.empty(n_former_arcs, dtype=np.int64)
        _write_costs(blues, reds, starts, columns, scale, costs)
        _augment(starts, columns, costs, n_slots, prices, spare, red_of, blue_prices)
        # No arc is added twice: arcs whose cost - red price is below the blue's price are not in the graph yet.
        arcs = np.sort(np.concatenate([arcs, _near_arcs(blues, reds, prices, blue_prices, scale)]))
    return red_of


def _first_prices(reds: np.ndarray, blues: np.ndarray, scale: float, n_slots: int, n_spare: int) -> np.ndarray:
    """First prices (R,) of the reds: near those of the optimum, by :func:`_auction`, or all 0 if there are few pairs."""
    prices = np.zeros(len(reds), dtype=np.int64)
    if len(reds) > 1 and len(reds) * len(blues) > MAX_PAIRS:
        nearest = np.full((len(blues), 1), -1)
        tiles = tiles_of(reds)
        _cheapest_columns(blues, tiles, prices, np.full(len(blues), _FAR), scale, nearest)
        squares = np.square(blues - reds[nearest[:, 0]]).sum(axis=1) * scale
        steps = np.clip(squares.mean() * np.array(_STEPS), 1.0, 2.0**BITS).astype(np.int64)
        _auction(blues, tiles, scale, n_slots, n_spare, steps, prices)
    return prices


def _first_arcs(reds: np.ndarray, blues: np.ndarray, prices: np.ndarray, scale: float) -> np.ndarray:
    """Sorted arcs ``blue * R + red``: the cheapest ones of each point, and those of a feasible decomposition."""
    n_reds, n_blues = len(reds), len(blues)
    blue_arcs = _near_arcs(blues, reds, prices, np.full(n_blues, _FAR), scale)
    red_arcs = _near_arcs(reds, blues, np.zeros(n_blues, dtype=np.int64), np.full(n_reds, _FAR), scale)
    widest_feature = (blues.max(axis=0) - blues.min(axis=0)).argmax()
    red_ranks = np.arange(n_blues) * n_reds // n_blues
    feasible = (
        np.argsort(blues[:, widest_feature], kind="stable") * n_reds
        + np.argsort(reds[:, widest_feature], kind="stable")[red_ranks]
    )
    arcs = np.sort(np.concatenate([blue_arcs, red_arcs % n_blues * n_reds + red_arcs // n_blues, feasible]))
    return arcs[np.append(True, arcs[1:] != arcs[:-1])]


def _near_arcs(rows: np.ndarray, others: np.ndarray, prices: np.ndarray, limits: np.ndarray, scale: float) -> np.ndarray:
    """Up to ``NEIGHBOURS`` arcs ``row * len(others) + other`` per row: those of lowest cost - price below the row's limit."""
    cheapest = np.full((len(rows), min(NEIGHBOURS, len(others))), -1)
    tiles = tiles_of(others)
    _cheapest_columns(rows, tiles, prices, limits, scale, cheapest)
    arc_rows, positions = np.nonzero(cheapest >= 0)
    return arc_rows * len(others) + cheapest[arc_rows, positions]


@compiled("void(float64[:,::1], float64[:,:,::1], int64[::1], int64[::1], float64, int64[:,::1])")
def _cheapest_columns(rows, tiles, prices, limits, scale, cheapest):
    """Write to ``cheapest`` each row's columns of lowest cost - price below its limit, cheapest first; keep unused entries."""
    float_prices = _approximate_prices(prices, scale, len(tiles))
    squares, values = np.empty(_LANES), np.empty(cheapest.shape[1], dtype=np.int64)
    for i in range(len(rows)):
        _scan(rows[i], i, tiles, float_prices, prices, limits[i], scale, squares, values, cheapest[i])


@inner
def _approximate_prices(prices, scale, n_tiles):
    """Prices in the unit of squared distances, in double precision, arranged in tiles."""
    float_prices = np.zeros((n_tiles, _LANES))
    for j in range(len(prices)):
        float_prices[j // _LANES, j % _LANES] = prices[j] / scale
    return float_prices


@inner
def _scan(row, offset, tiles, float_prices, prices, limit, scale, squares, values, cheapest):
    """Write a row's columns of lowest cost - price below ``limit`` to ``cheapest``, and cost - price of each to ``values``.

    Returns how many were written. The search starts at a place that depends on ``offset``, so that equal rows get different
    columns if several tie. ``squares`` is working memory.
    """
    n_columns, capacity = len(prices), len(cheapest)
    n_tiles, n_features = tiles.shape[0], tiles.shape[1]
    n_written = 0
    for turn in range(n_tiles):
        t = (turn + offset) % n_tiles
        squares[:] = 0.0
        for f in range(n_features):
            x, tile = row[f], tiles[t, f]
            for j in range(_LANES):
                squares[j] += (tile[j] - x) * (tile[j] - x)
        threshold = (limit + _MAX_ROUNDING_ERROR) / scale
        any_below = False
        for j in range(_LANES):
            any_below |= squares[j] - float_prices[t, j] < threshold
        if not any_below:
            continue
        width = min(_LANES, n_columns - t * _LANES)
        for turn_in_tile in range(width):
            j = (turn_in_tile + offset) % width
            value = np.int64(np.floor(squares[j] * scale + 0.5)) - prices[t * _LANES + j]
            if value >= limit:
                continue
            index = min(n_written, capacity - 1)
            while index > 0 and values[index - 1] > value:
                values[index], cheapest[index] = values[index - 1], cheapest[index - 1]
                index -= 1
            values[index], cheapest[index] = value, t * _LANES + j
            n_written = min(n_written + 1, capacity)
            if n_written == capacity:
                limit = values[capacity - 1]
    return n_written


@compiled("void(float64[:,::1], float64[:,:,::1], float64, int64, int64, int64[::1], int64[::1])")
def _auction(blues, tiles, scale, n_slots, n_spare, steps, prices):
    """Write prices near those of the optimum: blues bid for slots of the reds, with smaller and smaller steps.

    Prices are subtracted from costs, so a lower price makes a red worse. A blue without a slot bids for the cheapest slot of
    its best red. The bid lowers the price until this red is worse than the second best one, by one step, and outbids the
    holder. Since prices only fall, a blue can keep a list of its best reds for as long as no other red can be better.

    ``n_spare`` slots have to stay empty, at most one per red. A dummy buyer, numbered B, bids for these.
    """
    n_blues, n_reds = len(blues), len(prices)
    list_length = min(NEIGHBOURS, n_reds)
    lists, list_costs = np.full((n_blues, list_length), -1), np.empty((n_blues, list_length), dtype=np.int64)
    least_unlisted = np.full(n_blues, -_FAR)  # no red off the list of a blue has a lower cost - price
    float_prices, squares = _approximate_prices(prices, scale, len(tiles)), np.empty(_LANES)
    holders, slot_prices = np.empty((n_reds, n_slots), dtype=np.int64), np.empty((n_reds, n_slots), dtype=np.int64)
    has_spare = np.empty(n_reds, dtype=np.bool_)
    queue = np.empty(n_blues, dtype=np.int64)
    for step in steps:
        holders[:], has_spare[:] = -1, False
        for j in range(n_reds):
            slot_prices[j] = prices[j]
        for i in range(n_blues):
            queue[i] = n_blues - 1 - i
        n_waiting, n_spare_waiting, n_bids = n_blues, n_spare, 0
        while (n_waiting > 0 or n_spare_waiting > 0) and n_bids < _MAX_BIDS * n_blues:
            if n_waiting > 0:
                n_bids += 1
                n_waiting -= 1
                i = queue[n_waiting]
                best_index, second_value = _best_on_list(i, lists, list_costs, prices)
                if second_value >= least_unlisted[i]:
                    values = list_costs[i]
                    _scan(blues[i], i, tiles, float_prices, prices, _FAR, scale, squares, values, lists[i])
                    least_unlisted[i] = values[list_length - 1] if list_length < n_reds else _FAR
                    for index in range(list_length):
                        values[index] += prices[lists[i, index]]
                    best_index, second_value = _best_on_list(i, lists, list_costs, prices)
                red, second_value = lists[i, best_index], min(second_value, least_unlisted[i])
                former_holder = _sell(red, i, list_costs[i, best_index] - second_value - step, holders, slot_prices, prices)
                float_prices[red // _LANES, red % _LANES] = prices[red] / scale
                if former_holder == n_blues:
                    has_spare[red] = False
                    n_spare_waiting += 1
                elif former_holder >= 0:
                    queue[n_waiting] = former_holder
                    n_waiting += 1
                continue
            n_bids += 1
            red, second_price = _two_highest(prices, has_spare)
            former_holder = _sell(red, n_blues, second_price - step, holders, slot_prices, prices)
            float_prices[red // _LANES, red % _LANES] = prices[red] / scale
            has_spare[red] = True
            n_spare_waiting -= 1
            if former_holder >= 0:
                queue[n_waiting] = former_holder
                n_waiting += 1


@inner
def _two_highest(prices, has_spare):
    """Among reds without a spare slot: the red of the highest price, and the second highest price, or the only one."""
    best, highest, second = -1, -_FAR, -_FAR
    for red in range(len(prices)):
        if not has_spare[red]:
            if prices[red] > highest:
                best, highest, second = red, prices[red], highest
            elif prices[red] > second:
                second = prices[red]
    return best, (second if second > -_FAR else highest)


@inner
def _best_on_list(i, lists, list_costs, prices):
    """Index of the best red on the list of blue i, and cost - price of the second best; -1 and ``_FAR`` for an empty list."""
    best, least, second_least = -1, _FAR, _FAR
    if lists[i, 0] < 0:
        return best, second_least
    for index in range(lists.shape[1]):
        value = list_costs[i, index] - prices[lists[i, index]]
        if value < least:
            best, least, second_least = index, value, least
        elif value < second_least:
            second_least = value
    return best, second_least


@inner
def _sell(red, buyer, price, holders, slot_prices, prices):
    """Give a red's cheapest slot, which has the highest price, to a buyer at a new price; return the slot's former holder."""
    slot = 0
    for i in range(1, holders.shape[1]):
        if slot_prices[red, i] > slot_prices[red, slot]:
            slot = i
    former_holder = holders[red, slot]
    holders[red, slot], slot_prices[red, slot] = buyer, price
    highest = slot_prices[red, 0]
    for i in range(1, holders.shape[1]):
        highest = max(highest, slot_prices[red, i])
    prices[red] = highest
    return former_holder


@compiled("void(float64[:,::1], float64[:,::1], int64[::1], int64[::1], float64, int64[::1])")
def _write_costs(rows, others, starts, columns, scale, costs):
    """Write the cost of each arc, a squared distance as a whole number, summed feature by feature as in :func:`_scan`."""
    for i in range(len(rows)):
        for arc in range(starts[i], starts[i + 1]):
            square = 0.0
            for f in range(rows.shape[1]):
                square += (others[columns[arc], f] - rows[i, f]) * (others[columns[arc], f] - rows[i, f])
            costs[arc] = np.int64(np.floor(square * scale + 0.5))


@compiled("void(int64[::1], int64[::1], int64[::1], int64, int64[::1], boolean[::1], int64[::1], int64[::1])")
def _augment(starts, columns, costs, n_slots, prices, spare, red_of, blue_prices):
    """Extend the previous flow to the cheapest on the given arcs; updates ``prices``, ``spare``, ``red_of``, ``blue_prices``.

    A red has ``n_slots`` slots, one of which may be spare: it has to stay empty. The spare slots are the supply of an extra
    node, numbered R, with an arc of cost 0 and capacity 1 to each red.

    Every blue without a red takes the shortest path to a red with a free slot. The length of arc (i, j) is
    cost - blue price i - price j. It is never negative, and it is 0 if j is the red of blue i.
    """
    n_blues, n_reds = len(red_of), len(prices)
    members, counts = np.empty((n_reds, n_slots), dtype=np.int64), np.zeros(n_reds, dtype=np.int64)
    _keep_cheapest(starts, columns, costs, n_slots, prices, spare, red_of, blue_prices, members, counts)
    spare_price = _FAR  # the lowest price of a red with a spare slot
    for j in range(n_reds):
        if spare[j]:
            spare_price = min(spare_price, prices[j])
    distance, previous = np.full(n_reds + 1, _FAR), np.full(n_reds + 1, -1)
    settled = np.zeros(n_reds + 1, dtype=np.bool_)
    touched = np.empty(n_reds + 1, dtype=np.int64)
    heap_size = 0
    heap_keys, heap_nodes = np.empty(len(columns) + 2 * n_reds + 2, np.int64), np.empty(len(columns) + 2 * n_reds + 2, np.int64)
    for blue in range(n_blues):
        if red_of[blue] >= 0:
            continue
        n_touched, heap_size, bound = 0, 0, _FAR
        for arc in range(starts[blue], starts[blue + 1]):
            j = columns[arc]
            length = costs[arc] - blue_prices[blue] - prices[j]
            if length < distance[j] and length < bound:
                n_touched, heap_size = _reach(
                    j, length, blue, distance, previous, touched, n_touched, heap_keys, heap_nodes, heap_size
                )
                if counts[j] + spare[j] < n_slots:
                    bound = length
        target = -1
        while heap_size > 0:
            node = heap_nodes[0]
            node_distance = heap_keys[0]
            heap_size = _pop(heap_keys, heap_nodes, heap_size)
            if settled[node]:
                continue
            if node < n_reds and counts[node] + spare[node] < n_slots:
                target = node
                break
            settled[node] = True
            if node == n_reds:
                for j in range(n_reds):
                    length = node_distance + spare_price - prices[j]
                    if not spare[j] and length < distance[j] and length < bound:
                        n_touched, heap_size = _reach(
                            j, length, n_blues, distance, previous, touched, n_touched, heap_keys, heap_nodes, heap_size
                        )
                        if counts[j] < n_slots:
                            bound = length
                continue
            for index in range(counts[node]):
                i = members[node, index]
                for arc in range(starts[i], starts[i + 1]):
                    j = columns[arc]
                    length = node_distance + costs[arc] - blue_prices[i] - prices[j]
                    if length < distance[j] and length < bound:
                        n_touched, heap_size = _reach(
                            j, length, i, distance, previous, touched, n_touched, heap_keys, heap_nodes, heap_size
                        )
                        if counts[j] + spare[j] < n_slots:
                            bound = length
            if spare[node]:
                length = node_distance + prices[node] - spare_price
                if length < distance[n_reds] and length < bound:
                    n_touched, heap_size = _reach(
                        n_reds, length, node, distance, previous, touched, n_touched, heap_keys, heap_nodes, heap_size
                    )
        path_length = distance[target]
        blue_prices[blue] += path_length
        for index in range(n_touched):
            j = touched[index]
            if settled[j] and j < n_reds:
                prices[j] -= path_length - distance[j]
                for member in range(counts[j]):
                    blue_prices[members[j, member]] += path_length - distance[j]
            elif settled[j]:
                spare_price -= path_length - distance[j]
        _shift_along_path(target, previous, members, counts, spare, red_of)
        for index in range(n_touched):
            j = touched[index]
            distance[j], previous[j], settled[j] = _FAR, -1, False


@inner
def _reach(node, length, previous_node, distance, previous, touched, n_touched, heap_keys, heap_nodes, heap_size):
    """Reach a node by a shorter path, which comes from ``previous_node``; returns ``n_touched`` and ``heap_size``."""
    if distance[node] == _FAR:
        touched[n_touched] = node
        n_touched += 1
    distance[node], previous[node] = length, previous_node
    return n_touched, _push(heap_keys, heap_nodes, heap_size, length, node)


@inner
def _keep_cheapest(starts, columns, costs, n_slots, prices, spare, red_of, blue_prices, members, counts):
    """Keep the blues of the previous flow whose red is still the cheapest at the current prices, and release the others.

    Every blue without a red then takes one of its cheapest reds that has a free slot, if any. Also writes the price of each
    blue, and the blues and their number for each red: ``members`` (R, n_slots) and ``counts`` (R,).
    """
    for i in range(len(red_of)):
        cheapest, current_value = _FAR, _FAR
        for arc in range(starts[i], starts[i + 1]):
            value = costs[arc] - prices[columns[arc]]
            cheapest = min(cheapest, value)
            if columns[arc] == red_of[i]:
                current_value = value
        blue_prices[i] = cheapest
        if current_value > cheapest:
            red_of[i] = -1
        else:
            members[red_of[i], counts[red_of[i]]] = i
            counts[red_of[i]] += 1
    for i in range(len(red_of)):
        for arc in range(starts[i], starts[i + 1]):
            j = columns[arc]
            if red_of[i] < 0 and costs[arc] - prices[j] == blue_prices[i] and counts[j] + spare[j] < n_slots:
                red_of[i] = j
                members[j, counts[j]] = i
                counts[j] += 1


@inner
def _shift_along_path(target, previous, members, counts, spare, red_of):
    """Give each blue on the path to ``target`` the next red on the path, and move spare slots along the path likewise."""
    n_reds, n_blues = len(counts), len(red_of)
    red = target
    while red >= 0:
        i = previous[red]
        if i == n_blues:
            spare[red] = True
            red = previous[n_reds]
            spare[red] = False
            continue
        former_red = red_of[i]
        if former_red >= 0:
            index = 0
            while members[former_red, index] != i:
                index += 1
            counts[former_red] -= 1
            members[former_red, index] = members[former_red, counts[former_red]]
        red_of[i] = red
        members[red, counts[red]] = i
        counts[red] += 1
        red = former_red


@inner
def _push(keys, nodes, size, key, node):
    """Add a node to a binary heap; returns the new size."""
    index = size
    while index > 0:
        parent = (index - 1) >> 1
        if keys[parent] <= key:
            break
        keys[index], nodes[index] = keys[parent], nodes[parent]
        index = parent
    keys[index], nodes[index] = key, node
    return size + 1


@inner
def _pop(keys, nodes, size):
    """Remove the node with the smallest key from a binary heap; returns the new size."""
    size -= 1
    key, node = keys[size], nodes[size]
    index = 0
    while True:
        child = 2 * index + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[index], nodes[index] = keys[child], nodes[child]
        index = child
    keys[index], nodes[index] = key, node
    return size
