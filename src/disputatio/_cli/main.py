"""``disputatio``: runs one command, and says in one sentence what went wrong.

Exit codes are in ``disputatio.errors.ExitCode`` and in the reference. No traceback reaches a user; set
``DISPUTATIO_DEBUG=1`` to see one.

Ctrl-C ends the program at once and without a word while its code is being loaded. Python's own handler raises wherever
the program is. In the middle of an import that shows a traceback, is taken for an error by a library, or gets lost in a
callback of the import system. So it is replaced before anything is imported that takes time, and comes back when the
code of the command is there: from then on there may be something to put in order.
"""

from __future__ import annotations

# Not ``signal``: with ``enum`` it takes as long as an interpreter to start, and Ctrl-C may come meanwhile.
import _signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from typer.exceptions import TyperException

INTERRUPTED = 130
"""``ExitCode.INTERRUPTED``, known before anything is imported."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code.

    Args:
        arguments: what follows ``disputatio``; None takes the process's own.
    """
    if arguments is None:
        _leave_silently_while_loading()
    try:
        try:
            code = _outcome(arguments)
        except KeyboardInterrupt:
            code = INTERRUPTED
        if arguments is None:
            # All is done; another Ctrl-C would only break into the interpreter's own end, with a traceback.
            _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
            _part_from_streams()
    except KeyboardInterrupt:
        # It came once more, while the first one was being answered.
        os._exit(INTERRUPTED)
    sys.exit(int(code))


def _leave_silently_while_loading() -> None:
    # What was started with nohup, or in the background of a script, ignores Ctrl-C and goes on doing so.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _leave)
    if not os.environ.get("DISPUTATIO_DEBUG"):
        sys.unraisablehook = _leave_or_report


def _end_loading() -> None:
    """From now on Ctrl-C raises ``KeyboardInterrupt``."""
    if _signal.getsignal(_signal.SIGINT) is _leave:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _leave_or_report(unraisable: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised in a callback. Ctrl-C is not dropped: whoever pressed it wants to leave."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(unraisable)


def _part_from_streams() -> None:
    from disputatio._cli.streams import drop_unwritable

    drop_unwritable()


def _outcome(arguments: Sequence[str] | None) -> int:
    from disputatio._cli.streams import drop_output, is_about_output, reader_left, standard_streams, tell
    from disputatio.errors import DisputatioError, ExitCode, InvalidInputError

    standard_streams()
    on_terminal = sys.stdout.isatty()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"] and "_DISPUTATIO_COMPLETE" not in os.environ:
        from disputatio._version import VERSION

        _write(f"disputatio {VERSION}\n")
        return ExitCode.COMPLETE

    from typer.exceptions import TyperException

    try:
        code = _run(words)
        sys.stdout.flush()
    except DisputatioError as failure:
        if isinstance(failure, InvalidInputError) and _is_interruption(failure):
            # An import was broken off, and taken for a library that is not installed.
            return ExitCode.INTERRUPTED
        tell(failure.cause, failure.next_step)
        return failure.exit_code
    except TyperException as error:
        tell(*_usage(error))
        return ExitCode.INVALID_INPUT
    except (Exception, SystemExit) as error:
        if _is_interruption(error):
            return ExitCode.INTERRUPTED
        if reader_left(error):
            # Nothing is lost: what a command shows can be shown again.
            drop_output()
            return ExitCode.COMPLETE
        if isinstance(error, SystemExit):
            return error.code if isinstance(error.code, int) else ExitCode.COMPLETE
        if is_about_output(error):
            return _lost_output(error, on_terminal=on_terminal)
        if os.environ.get("DISPUTATIO_DEBUG"):
            raise
        tell(
            f"Something went wrong inside disputatio: {type(error).__name__}: {str(error)[:200]}",
            "This is a bug; what was recorded is kept. Please report it with the output under DISPUTATIO_DEBUG=1.",
        )
        return ExitCode.INTERNAL
    return code


def _lost_output(error: OSError, *, on_terminal: bool) -> int:
    """Say that the output cannot be written; where the window of a terminal was closed, the command was interrupted."""
    import errno

    from disputatio._cli.streams import drop_output, tell
    from disputatio.errors import ExitCode

    drop_output()
    if on_terminal and error.errno == errno.EIO:
        # The signal that says so comes a moment later.
        return ExitCode.INTERRUPTED
    tell(f"The output cannot be written: {error.strerror}.", "Give it another place; what was recorded is kept.")
    return ExitCode.INVALID_INPUT


def _is_interruption(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused ``error``: Python itself and libraries turn it into errors of their own."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _write(text: str) -> None:
    from disputatio._cli.streams import drop_output, is_about_output

    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        if not is_about_output(error):
            raise
        drop_output()


def _run(words: list[str]) -> int:
    """Run the command in ``words``. Only its own module is imported, and none for a word that is no command.

    What begins with an option may come to any command, or to the words a shell asks for.
    """
    from disputatio._cli.assembling import app_of_names, app_with
    from disputatio._cli.index import COMMANDS
    from disputatio.errors import ExitCode

    if not words or words[0].startswith("-"):
        app = app_with(*COMMANDS)
    else:
        app = app_with(words[0]) if words[0] in COMMANDS else app_of_names()
    _end_loading()
    code = app(args=words, prog_name="disputatio", standalone_mode=False)
    return code if isinstance(code, int) else ExitCode.COMPLETE


def _usage(error: TyperException) -> tuple[str, str]:
    """What is wrong with a command line, and where its commands and options are told; nothing for a mere help page."""
    from disputatio.motion import one_line

    message = one_line(error.format_message(), 300)
    if not message:
        return "", ""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "disputatio"
    option, possible = getattr(error, "option_name", ""), getattr(error, "possibilities", None)
    if message.startswith("No such option"):
        near = f" Did you mean {' or '.join(sorted(possible))}?" if possible else ""
        message = f"There is no option {one_line(option, 60)} here.{near}"
    if message.startswith("No such command") and " " in message.split("'")[1]:
        return message, 'To debate a motion: disputatio debate "MOTION"'
    if message.startswith("Got unexpected extra argument") and command.endswith(" debate"):
        return f"{message}.", 'Put a motion of several words in quotes: disputatio debate "MOTION"'
    message = message.replace("Value error, ", "")
    return message if message.endswith((".", "?")) else f"{message}.", f"`{command} --help` shows what it takes."


if __name__ == "__main__":
    main()
