"""PDF files made byte by byte, after ISO 32000-1, so that what is read can be compared with what was written."""

from __future__ import annotations

import io


def pdf(pages: list[list[str]]) -> bytes:
    """A PDF with the given lines on each page; a page without lines is a page without text."""
    contents = [_stream(lines) for lines in pages]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, content in enumerate(contents):
        resources = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {5 + 2 * n} 0 R >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(out)
    size = len(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{out}startxref\n{start}\n%%EOF\n".encode("latin-1")


def _stream(lines: list[str]) -> str:
    shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
    return f"BT /F1 12 Tf 72 720 Td {shown}ET" if lines else ""


def encrypted(raw: bytes, password: str) -> bytes:
    """The same PDF behind ``password``; an empty one is asked of nobody."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(raw)))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
