# SPDX-License-Identifier: Apache-2.0
"""A confusion matrix as a PNG file, with nothing but zlib."""
import struct
import zlib

CELL = 28
# Digits of 3 by 5 pixels, row by row.
ROWS = {
    "0": "111101101101111", "1": "010110010010111", "2": "111001111100111", "3": "111001111001111",
    "4": "101101111001001", "5": "111100111001111", "6": "111100111101111", "7": "111001010010010",
    "8": "111101111101111", "9": "111101111001111",
}


def write_png(path, pixels):
    """pixels: rows of (red, green, blue)."""
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + bytes(channel for pixel in row for channel in pixel) for row in pixels)
    with open(path, "wb") as png:
        png.write(b"\x89PNG\r\n\x1a\n")
        png.write(part(b"IHDR", struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 2, 0, 0, 0)))
        png.write(part(b"IDAT", zlib.compress(lines, 9)))
        png.write(part(b"IEND", b""))


def draw_number(pixels, text, left, top, colour):
    for i, digit in enumerate(text):
        for n, on in enumerate(ROWS[digit]):
            if on == "1":
                for dy in (0, 1):
                    for dx in (0, 1):
                        pixels[top + n // 3 * 2 + dy][left + i * 8 + n % 3 * 2 + dx] = colour


def confusion_matrix(path, counts):
    """counts[actual][predicted]; rows are the actual digits, columns the predicted ones."""
    size = CELL * (len(counts) + 1)
    pixels = [[(255, 255, 255)] * size for _ in range(size)]
    most = max(max(row) for row in counts) or 1
    for i in range(len(counts)):
        draw_number(pixels, str(i), 10, CELL * (i + 1) + 9, (90, 90, 90))
        draw_number(pixels, str(i), CELL * (i + 1) + 11, 9, (90, 90, 90))
        for j, count in enumerate(counts[i]):
            share = (count / most) ** 0.5
            full = (24, 110, 80) if i == j else (190, 60, 40)
            colour = tuple(int(255 - (255 - c) * share) for c in full)
            for y in range(CELL * (i + 1) + 1, CELL * (i + 2)):
                for x in range(CELL * (j + 1) + 1, CELL * (j + 2)):
                    pixels[y][x] = colour
            if count:
                text = str(count)
                draw_number(pixels, text, CELL * (j + 1) + 15 - 4 * len(text), CELL * (i + 1) + 9,
                            (255, 255, 255) if share > 0.5 else (60, 60, 60))
    write_png(path, pixels)
