"""Raw answers into letters, numbers, spans, texts and fields: strict form first, rules next, a model for the rest."""

from taxpraben.reading.answer import read_answer, read_asked
from taxpraben.reading.asked import Asked, Form, ReadResult
from taxpraben.reading.parser import ParserUnavailableError

__all__ = ["Asked", "Form", "ParserUnavailableError", "ReadResult", "read_answer", "read_asked"]
