"""Loop and Scan: written out where the number of iterations is known and small, kept where not."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from control_flow.conftest import parsed


def ops(conversion):
    return [call.op for call in conversion.program.calls]


COUNTED = """
flow (float[2, 3] x, int64 n) => (float[2, 3] y) {
    step = Constant<value = float {0.25}>()
    y = Loop (n, , x) <body = body (int64 i, bool c, float[2, 3] v) => (bool d, float[2, 3] w) {
        d = Identity(c)
        f = Cast<to = 1>(i)
        g = Mul(f, step)
        h = Add(v, g)
        w = Tanh(h)
    }>
}
"""


def test_trip_count_at_run_time(agree, values):
    x = values(2, 3)
    conversion = agree(COUNTED, [{"x": x, "n": np.asarray(n)} for n in (0, 1, 2, 7, -1)])
    assert ops(conversion).count("BeginLoop") == ops(conversion).count("RepeatLoop") == 1


STOPPING = """
flow (float[4] x, int64 n, bool first) => (float[4] y, int64 steps) {
    one = Constant<value = int64 {1}>()
    zero = Constant<value = int64 {0}>()
    limit = Constant<value = float {6.0}>()
    y, steps = Loop (n, first, x, zero) <body = body (int64 i, bool c, float[4] v, int64 k) => (bool d, float[4] w, int64 l) {
        w = Add(v, x)
        s = ReduceSum<keepdims = 0>(w)
        d = Less(s, limit)
        l = Add(k, one)
    }>
}
"""


def test_condition_that_stops_early(agree):
    samples = [
        {"x": np.full(4, value, np.float32), "n": np.asarray(n), "first": np.asarray(first)}
        for value in (0.1, 0.7, 3.0)
        for n in (0, 1, 5, 100)
        for first in (True, False)
    ]
    agree(STOPPING, samples)


def test_condition_alone(agree):
    """Without a trip count: while."""
    text = (
        STOPPING.replace(", int64 n, bool first", "")
        .replace("Loop (n, first,", "Loop (, true,")
        .replace("one = ", "true = Constant<value = bool {1}>() one = ")
    )
    agree(text, [{"x": np.full(4, value, np.float32)} for value in (0.1, 0.7, 3.0)])


def test_values_that_change_places(agree, values):
    """What one iteration carries on is what another value was: all are read before any is replaced."""
    agree(
        """
        flow (float[3] x, float[3] z, int64 n) => (float[3] p, float[3] q, float[3] r, float[3] s) {
            p, q, r, s = Loop (n, , x, z, x, z) <
                body = body (int64 i, bool c, float[3] a, float[3] b, float[3] e, float[3] f) =>
                    (bool d, float[3] b2, float[3] a2, float[3] f2, float[3] same) {
                    d = Identity(c)
                    b2 = Identity(b)
                    a2 = Identity(a)
                    f2 = Add(e, a)
                    same = Identity(f)
                }>
        }
        """,
        [{"x": values(3), "z": values(3), "n": np.asarray(n)} for n in (0, 1, 2, 3)],
    )


def test_condition_that_is_carried(agree, values):
    """The flag that one iteration sets ends the loop one iteration later."""
    agree(
        """
        flow (float[1] x, bool go) => (float[1] y, bool last) {
            true = Constant<value = bool {1}>()
            top = Constant<value = float {5.0}>()
            y, last = Loop (, true, x, go) <body = body (int64 i, bool c, float[1] v, bool flag) => (bool d, float[1] w, bool next) {
                d = Identity(flag)
                w = Add(v, x)
                s = ReduceSum<keepdims = 0>(w)
                next = Less(s, top)
            }>
        }
        """,
        [{"x": np.asarray([value], np.float32), "go": np.asarray(go)} for value in (1.0, 2.0, 9.0) for go in (True, False)],
    )


def test_a_branch_in_a_loop_in_a_branch(agree, values):
    text = """
    flow (float[2] x, int64 n, bool c) => (float[2] y) {
        two = Constant<value = int64 {2}>()
        zero = Constant<value = int64 {0}>()
        bias = Constant<value = float[2] {0.5, -0.5}>()
        y = If (c) <
            then_branch = t () => (float[2] p) {
                p = Loop (n, , x) <body = body (int64 i, bool g, float[2] v) => (bool h, float[2] w) {
                    h = Identity(g)
                    rest = Mod(i, two)
                    even = Equal(rest, zero)
                    w = If (even) <then_branch = a () => (float[2] k) { u = Mul(v, x) k = Add(u, bias) },
                                   else_branch = b () => (float[2] l) { l = Loop (i, , v) <
                                       body = inner (int64 j, bool q, float[2] r) => (bool q2, float[2] r2) {
                                           q2 = Identity(q) m = Tanh(r) r2 = Sub(m, x) }> }>
                }>
            },
            else_branch = e () => (float[2] o) { o = Neg(x) }>
    }
    """
    x = values(2)
    agree(text, [{"x": x, "n": np.asarray(n), "c": np.asarray(c)} for n in range(6) for c in (True, False)])


SCANNED = """
flow (float[3] x) => (float[3] y, float[COUNT, 3] all, int64[COUNT] numbers) {
    n = Constant<value = int64 {COUNT}>()
    y, all, numbers = Loop (n, , x) <body = body (int64 i, bool c, float[3] v) => (bool d, float[3] w, float[3] entry, int64 j) {
        d = Identity(c)
        w = Sin(v)
        entry = Mul(w, v)
        j = Identity(i)
    }>
}
"""


@pytest.mark.parametrize(("count", "kept"), [(1, False), (5, False), (400, True)])
def test_scan_outputs(count, kept, agree, values):
    """400 iterations of two nodes would be too many to write out."""
    conversion = agree(SCANNED.replace("COUNT", str(count)), [{"x": values(3)}])
    assert ("BeginLoop" in ops(conversion)) == kept
    assert ("StoreEntry" in ops(conversion)) == kept


def test_scan_outputs_of_no_known_length_are_refused(converted):
    text = SCANNED.replace("float[3] x)", "float[3] x, int64 n)").replace("n = Constant<value = int64 {COUNT}>()", "")
    with pytest.raises(UnsupportedModelError, match="its scan output all has an entry for every iteration"):
        converted(parsed(text.replace("[COUNT, 3]", "[a, 3]").replace("[COUNT]", "[a]")))


def test_values_that_grow_are_refused_where_the_loop_is_kept(converted):
    text = """
    flow (float[1, 3] x, int64 n) => (float[a, 3] y) {
        y = Loop (n, , x) <body = body (int64 i, bool c, float[b, 3] v) => (bool d, float[e, 3] w) {
            d = Identity(c) w = Concat<axis = 0>(v, x) }>
    }
    """
    with pytest.raises(UnsupportedModelError, match=r"v begins as float32\[1, 3\] and becomes float32\[2, 3\]"):
        converted(parsed(text))


def test_values_that_grow_where_it_is_written_out(agree, values):
    agree(
        """
        flow (float[1, 3] x) => (float[5, 3] y) {
            n = Constant<value = int64 {4}>()
            y = Loop (n, , x) <body = body (int64 i, bool c, float[b, 3] v) => (bool d, float[e, 3] w) {
                d = Identity(c) w = Concat<axis = 0>(v, x) }>
        }
        """,
        [{"x": values(1, 3)}],
    )


SCAN = """
flow (float[3] s, float[SHAPE] x) => (float[3] t, float[OUT] y) {
    t, y = Scan <num_scan_inputs = 1, ATTRIBUTES,
                 body = body (float[3] a, float[3] b) => (float[3] c, float[3] d) { m = Tanh(a) c = Add(m, b) d = Mul(c, a) }> (s, x)
}
"""


@pytest.mark.parametrize("count", [4, 150])
@pytest.mark.parametrize(
    ("axis", "input_direction", "output_axis", "output_direction"), [(0, 0, 0, 0), (1, 0, 0, 1), (0, 1, 1, 0), (-1, 1, -1, 1)]
)
def test_scan(count, axis, input_direction, output_axis, output_direction, agree, values):
    shape = (count, 3) if axis == 0 else (3, count)
    out = f"{count}, 3" if output_axis == 0 else f"3, {count}"
    attributes = (
        f"scan_input_axes = [{axis}], scan_input_directions = [{input_direction}], "
        f"scan_output_axes = [{output_axis}], scan_output_directions = [{output_direction}]"
    )
    text = SCAN.replace("SHAPE", ", ".join(map(str, shape))).replace("OUT", out).replace("ATTRIBUTES", attributes)
    plain = (axis, input_direction, output_axis, output_direction) == (0, 0, 0, 0)  # the reference implements no others
    conversion = agree(text, [{"s": values(3), "x": values(*shape)}], reference=plain)
    assert ("BeginLoop" in ops(conversion)) == (count > 100)


@pytest.mark.parametrize("steps", [4, 300])
def test_scan_with_batches(steps, agree, values):
    """Opset 8: sequence_lens first, absent; a batch in front of every operand."""
    text = """
    flow (float[2, 3] s, float[2, STEPS, 3] x) => (float[2, 3] t, float[2, STEPS, 3] y) {
        t, y = Scan <num_scan_inputs = 1, directions = [1],
                     body = body (float[3] a, float[3] b) => (float[3] c, float[3] d) { c = Add(a, b) d = Tanh(c) }> (, s, x)
    }
    """
    agree(text.replace("STEPS", str(steps)), [{"s": values(2, 3), "x": values(2, steps, 3)}], reference=False, opset=8)
