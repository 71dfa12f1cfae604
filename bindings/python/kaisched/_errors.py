"""One exception per status of the library."""


class Error(Exception):
    """A call failed. Whether something could be scheduled is never an error, but a row of the results."""

    code: int = 0
    """Number of the status; equal to ``KAISCHED_E_...`` of the C interface."""
    subject: int
    """Identifier of the entity concerned, or 0."""

    def __init__(self, message: str = "", subject: int = 0) -> None:
        super().__init__(message)
        self.subject = subject

    def __reduce__(self) -> tuple[type["Error"], tuple[str, int]]:
        return type(self), (str(self), self.subject)


class ArgumentError(Error, ValueError):
    """An argument or a value of the input is not valid."""

    code = -10


class StructSizeError(Error):
    """A structure is shorter than its first version."""

    code = -11


class NotFoundError(Error, LookupError):
    """A name or identifier names nothing."""

    code = -20


class StaleIdError(Error, LookupError):
    """An identifier names something that has been removed."""

    code = -21


class WrongKindError(Error, LookupError):
    """An identifier names another kind of entity."""

    code = -22


class DuplicateError(Error):
    """A name is in use already."""

    code = -23


class ConflictError(Error):
    """The cluster has moved since the snapshot."""

    code = -30


class StateError(Error):
    """The call is not allowed in the present state."""

    code = -31


class UnsupportedError(Error):
    """The table, column or feature is not known here."""

    code = -40


class AbiError(Error):
    """The caller was built for another ABI."""

    code = -41


class LimitError(Error, OverflowError):
    """A size or amount exceeds what can be represented."""

    code = -50


class CancelledError(Error):
    """The host cancelled the call."""

    code = -51


class PluginError(Error):
    """A plug-in failed."""

    code = -60


class NoMemoryError(Error, MemoryError):
    """Out of memory."""

    code = -70


class InternalError(Error):
    """A defect of the library."""

    code = -99


_BY_CODE: dict[int, type[Error]] = {cls.code: cls for cls in Error.__subclasses__()}


def make(code: int, message: str, subject: int) -> Error:
    """The exception for a failed call."""
    return _BY_CODE.get(code, InternalError)(message, subject)
