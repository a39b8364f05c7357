// An error in one line, as `tollhouse` prints it, and the exit code for it.
import { InsufficientBalanceError, TollhouseError } from '../client/errors.ts';
import { EXIT, type ExitCode, UsageError } from './command.ts';
import { shown } from './printer.ts';

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof InsufficientBalanceError) return EXIT.denied;
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}

/** What a call with these arguments prints of it. */
export function reportOf(
  error: unknown,
  argv: readonly string[],
  paint: (name: string) => string = String,
): string {
  if (argv.includes('--json')) return JSON.stringify(jsonOf(error));
  return `${paint('tollhouse:')} ${lineOf(error)}`;
}

function lineOf(error: unknown): string {
  return shown(textOf(error)).slice(0, 1000);
}

/** The fields are those of the service's own errors. */
function jsonOf(error: unknown): object {
  if (!(error instanceof TollhouseError)) {
    const type = error instanceof UsageError ? 'usage' : 'failed';
    return { error: { type, message: textOf(error) } };
  }
  const { type, message, status, issues, requestId } = error;
  return { error: { type, message, status, issues, request_id: requestId } };
}

function textOf(error: unknown): string {
  if (error instanceof TollhouseError) {
    const { type, message, issues, requestId } = error;
    const why = issues.map((issue) => `${issue.path.join('.')} ${issue.message}`.trim());
    const request = requestId === null ? '' : ` (request ${requestId})`;
    // The message is most often the first of them in words.
    const more = why.filter((issue) => !message.includes(issue));
    return `${type}: ${[message, ...more].join('; ')}${request}`;
  }
  return error instanceof Error ? error.message : String(error);
}
