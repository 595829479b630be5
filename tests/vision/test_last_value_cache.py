"""A cache of the most recent value of an expensive computation."""

from vision.last_value_cache import LastValueCache


def test_a_value_is_made_once_as_long_as_its_inputs_are_the_same_objects():
    """The value is computed once while the inputs are identical objects."""
    latest, made, inputs = LastValueCache[list[int]](), [], ([1], [2])

    def make() -> list[int]:
        made.append(len(made))
        return made

    first = latest.get(inputs, make)
    assert latest.get((inputs[0], inputs[1]), make) is first
    assert made == [0]


def test_an_equal_input_that_is_another_object_has_it_made_anew():
    """Equal but not identical inputs cause a new computation."""
    latest, one = LastValueCache[object](), [1]
    first = latest.get((one,), object)
    assert latest.get(([1],), object) is not first
    assert latest.get((one,), object) is not first
