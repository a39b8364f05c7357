// One call of `tollhouse`: arguments in, an exit code out.
import { Tollhouse } from '../client/tollhouse.ts';
import { type Cli, EXIT, type ExitCode, type Pause, UsageError } from './command.ts';
import { COMMANDS } from './commands.ts';
import { exitCodeOf, reportOf } from './errors.ts';
import { helpOf, helpOfCommand } from './help.ts';
import { type Globals, parse } from './parse.ts';
import { Printer, type Sink } from './printer.ts';
import { httpUrlOf } from './values.ts';

const URL_DEFAULT = 'http://localhost:3000';

/** The process, as far as a command may see it. */
export type World = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly untilInterrupted: () => AbortSignal;
  readonly pause: Pause;
  /** How long a call may take. */
  readonly timeoutMs: number;
  readonly version: string;
};

export async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const notices = printer(world, world.stderr);
  try {
    const parsed = parse(COMMANDS, argv);
    const out = printer(world, world.stdout);
    if (parsed.kind === 'version') await out.line(world.version);
    if (parsed.kind === 'help') await out.line(helpFor(parsed.name));
    if (parsed.kind !== 'command') return EXIT.ok;
    const { name, globals, options, args } = parsed;
    const cli = cliOf(world, globals, { out, notices });
    return (await COMMANDS[name]?.run(cli, { options, args })) ?? EXIT.usage;
  } catch (error) {
    await notices.line(reportOf(error, argv, (name) => notices.paint('red', name)));
    return exitCodeOf(error);
  }
}

function cliOf(
  world: World,
  globals: Globals,
  printers: { readonly out: Printer; readonly notices: Printer },
): Cli {
  const { env, stdin, untilInterrupted, pause, timeoutMs } = world;
  const setting = (name: string) => (env[name] === '' ? undefined : env[name]);
  const url = serviceOf(globals.url, setting('TOLLHOUSE_URL'));
  const apiKey = () => {
    const key = globals['api-key'] ?? setting('TOLLHOUSE_API_KEY');
    if (key === undefined) throw new UsageError('no key: set TOLLHOUSE_API_KEY or give --api-key');
    return key;
  };
  return {
    ...printers,
    url,
    apiKey,
    client: (hooks = {}) => new Tollhouse({ apiKey: apiKey(), baseUrl: url, timeoutMs, hooks }),
    isJson: globals.json,
    input: stdin,
    untilInterrupted,
    pause,
  };
}

/** `TOLLHOUSE_URL` is named where it is the one that is wrong. */
function serviceOf(given: string | undefined, set: string | undefined): string {
  const name = given === undefined ? 'TOLLHOUSE_URL' : '--url';
  return httpUrlOf(name, given ?? set ?? URL_DEFAULT, URL_DEFAULT).href;
}

function helpFor(name: string | null): string {
  const command = name === null ? undefined : COMMANDS[name];
  return name === null || command === undefined ? helpOf(COMMANDS) : helpOfCommand(name, command);
}

/** Colours on a terminal that wants them (no-color.org). */
function printer({ env }: World, sink: Sink): Printer {
  const hasColours = sink.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return new Printer(sink, { hasColours });
}
