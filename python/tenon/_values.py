# SPDX-License-Identifier: Apache-2.0
"""From whatever a script hands to log() to one of the five kinds of value; knows no other package."""

MAX_TEXT = 1024 * 1024
MAX_LIST = 131072

NUMBER, WHOLE, BOOLEAN, TEXT, LIST, NAME = 1, 2, 3, 4, 5, 6
CUT = 1  # flag


def convert(value):
    """(tag, value, flags). The value is a float, int, 0 or 1, UTF-8 bytes, or list of floats. Never raises."""
    try:
        return _convert(value, 0)
    except Exception:
        return _text(as_text(value))


def _convert(value, depth):
    kind = type(value)
    if kind is bool:
        return BOOLEAN, int(value), 0
    if isinstance(value, float):
        return NUMBER, float(value), 0
    if isinstance(value, int):
        return _whole(int(value))
    if isinstance(value, str):
        return _text(str(value))
    if isinstance(value, (bytes, bytearray)):
        return _text(bytes(value).decode("utf-8", "replace"))
    if isinstance(value, (list, tuple)):
        return _list(value)
    if value is None or isinstance(value, (complex, type)) or depth > 4:
        return _text(as_text(value))
    if isinstance(value, dict):
        return _text(_json(value))
    return _foreign(value, depth + 1)


def _whole(value):
    if -(1 << 63) <= value < 1 << 63:
        return WHOLE, value, 0
    try:
        return NUMBER, float(value), 0
    except OverflowError:
        return _text(as_text(value))


def _foreign(value, depth):
    """Numbers, arrays and tensors of other packages, known by their methods."""
    flags = 0
    if getattr(getattr(value, "dtype", None), "kind", "") in ("M", "m"):
        return _times(value)  # tolist() would give nanoseconds
    if callable(getattr(value, "tolist", None)):
        if getattr(value, "ndim", 1) == 1:
            value, flags = _shortened(value)
        plain = value.tolist()
    elif callable(getattr(value, "item", None)):
        plain = value.item()
    elif callable(getattr(value, "numpy", None)):
        plain = value.numpy()
    elif hasattr(type(value), "__float__"):
        return NUMBER, float(value), 0
    else:
        return _text(as_text(value))
    if type(plain) is type(value):  # numpy's longdouble has no plainer form
        return (NUMBER, float(value), 0) if hasattr(value, "__float__") else _text(as_text(value))
    tag, plain, more = _convert(plain, depth)
    return tag, plain, flags | more


def _times(value):
    """Points in time and durations of numpy and pandas, as text."""
    if getattr(value, "ndim", 0) == 0:
        return _text(as_text(value))
    values, flags = _shortened(value)
    tag, text, more = _text(_json([as_text(one) for one in values]))
    return tag, text, flags | more


def _missing(value):
    """pandas.NA: among numbers it is what NaN is."""
    return type(value).__name__ == "NAType"


def _shortened(values):
    """A million-element array is not made into a Python list only to be cut."""
    try:
        if len(values) > MAX_LIST:
            return values[:MAX_LIST], CUT
    except Exception:
        pass
    return values, 0


def _list(values):
    flags = CUT if len(values) > MAX_LIST else 0
    values = values[:MAX_LIST] if flags else values
    numbers = []
    for value in values:
        if type(value) is not float:
            if isinstance(value, str) or isinstance(value, (bytes, list, tuple, dict)):
                return _text(_json(values))
            if _missing(value):
                value = float("nan")
            tag, value, unused = _convert(value, 1)
            if tag not in (NUMBER, WHOLE, BOOLEAN):
                return _text(_json(values))
            value = float(value)
        numbers.append(value)
    return LIST, numbers, flags


def _json(value):
    import json
    try:
        return json.dumps(value, default=_member, ensure_ascii=False)
    except Exception:
        return as_text(value)


def _member(value):
    """A value of another package within a list or dictionary that is stored as JSON."""
    try:
        tag, plain, unused = _convert(value, 1)
    except Exception:
        return as_text(value)
    if tag == BOOLEAN:
        return bool(plain)
    return plain.decode("utf-8", "replace") if tag == TEXT else plain


def _text(text):
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_TEXT:
        return TEXT, data, 0
    mark = (u"\u2026 [cut, %d bytes]" % len(data)).encode("utf-8")
    kept = data[:MAX_TEXT - len(mark)].decode("utf-8", "ignore").encode("utf-8")
    return TEXT, kept + mark, CUT


def as_text(value):
    try:
        return str(value)
    except Exception:
        return "<%s>" % type(value).__name__


def as_step(step):
    """A whole number that fits with room for the next one, or None for "the next one"."""
    try:
        step = int(step)
    except Exception:
        return None
    return step if -(1 << 63) <= step < (1 << 63) - 1 else None


def padded_size(tag, value):
    """Bytes behind the head of a record."""
    if tag in (TEXT, NAME):
        return value + 7 & -8
    return value * 8 if tag == LIST else 0
