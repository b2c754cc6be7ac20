"""``disputatio``: run one command, and print errors in a sentence.

Exit codes are in ``disputatio.errors.ExitCode`` and in the reference. Users see no tracebacks unless they set
``DISPUTATIO_DEBUG=1``.

While code is being loaded, Ctrl-C ends the program at once and silently. Python's own handler would raise in the middle
of an import. That shows a traceback, a library takes it for another error, or the import system drops it. So another
handler is installed before any slow import. Python's handler comes back when the code of the command is loaded, because
the command may have to clean up.
"""

from __future__ import annotations

# Not ``signal``: it imports ``enum``, which takes as long as starting Python, and Ctrl-C may come meanwhile.
import _signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from typer.exceptions import TyperException

INTERRUPTED = 130
"""``ExitCode.INTERRUPTED``, without importing it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code.

    Args:
        arguments: the words after ``disputatio``; None takes those of the process.
    """
    if arguments is None:
        _exit_silently_while_loading()
    try:
        try:
            code = _run_safely(arguments)
        except KeyboardInterrupt:
            code = INTERRUPTED
        if arguments is None:
            # The command is over. Another Ctrl-C would only interrupt the interpreter's exit, with a traceback.
            _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
            from disputatio._cli.streams import drop_unwritable

            drop_unwritable()
    except KeyboardInterrupt:
        # Ctrl-C came again while the first one was handled.
        os._exit(INTERRUPTED)
    sys.exit(int(code))


def _exit_silently_while_loading() -> None:
    # A program that was started with nohup, or in the background of a script, ignores Ctrl-C. That stays so.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _exit_silently)
    if not os.environ.get("DISPUTATIO_DEBUG"):
        sys.unraisablehook = _exit_or_report


def _end_loading() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt`` from now on."""
    if _signal.getsignal(_signal.SIGINT) is _exit_silently:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _exit_silently(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _exit_or_report(unraisable: sys.UnraisableHookArgs) -> None:
    """Exit on a Ctrl-C in a callback, where Python would drop it."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(unraisable)


def _run_safely(arguments: Sequence[str] | None) -> int:
    from disputatio._cli.streams import drop_output, is_about_output, is_pipe_closed, repair_streams, tell
    from disputatio.errors import DisputatioError, ExitCode, InvalidInputError

    repair_streams()
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
            # Ctrl-C broke off an import, which looked like a missing library.
            return ExitCode.INTERRUPTED
        tell(failure.cause, failure.next_step)
        return failure.exit_code
    except TyperException as error:
        tell(*_describe_usage(error))
        return ExitCode.INVALID_INPUT
    except (Exception, SystemExit) as error:
        if _is_interruption(error):
            return ExitCode.INTERRUPTED
        if is_pipe_closed(error):
            # Nothing is lost: the command can show it again.
            drop_output()
            return ExitCode.COMPLETE
        if isinstance(error, SystemExit):
            return error.code if isinstance(error.code, int) else ExitCode.COMPLETE
        if is_about_output(error):
            return _report_lost_output(error, on_terminal=on_terminal)
        if os.environ.get("DISPUTATIO_DEBUG"):
            raise
        tell(
            f"Something went wrong inside disputatio: {type(error).__name__}: {str(error)[:200]}",
            "This is a bug. The record so far is safe. Please report it with the output under DISPUTATIO_DEBUG=1.",
        )
        return ExitCode.INTERNAL
    return code


def _report_lost_output(error: OSError, *, on_terminal: bool) -> int:
    """Print that the output cannot be written. A terminal whose window was closed counts as an interruption."""
    import errno

    from disputatio._cli.streams import drop_output, tell
    from disputatio.errors import ExitCode

    drop_output()
    if on_terminal and error.errno == errno.EIO:
        # Its signal arrives a moment later.
        return ExitCode.INTERRUPTED
    tell(f"The output cannot be written: {error.strerror}.", "Write it to another place. The record so far is safe.")
    return ExitCode.INVALID_INPUT


def _is_interruption(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused ``error``. Python and libraries turn it into other errors."""
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
    """Run the command in ``words``. Import only its module, or no module for an unknown command.

    Words that begin with an option may need any command, as do the words with which a shell asks for completions.
    """
    from disputatio._cli.assembling import make_app, make_app_of_names
    from disputatio._cli.index import COMMANDS
    from disputatio.errors import ExitCode

    if not words or words[0].startswith("-"):
        app = make_app(*COMMANDS)
    else:
        app = make_app(words[0]) if words[0] in COMMANDS else make_app_of_names()
    _end_loading()
    code = app(args=words, prog_name="disputatio", standalone_mode=False)
    return code if isinstance(code, int) else ExitCode.COMPLETE


def _describe_usage(error: TyperException) -> tuple[str, str]:
    """What is wrong with a command line, and the next step. Both are empty for a help page."""
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
    return message if message.endswith((".", "?")) else f"{message}.", f"`{command} --help` shows its options."


if __name__ == "__main__":
    main()
