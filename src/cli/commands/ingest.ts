// `tollhouse ingest FILE.ndjson`: usage from a file of events, one a line.
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import type { Tollhouse } from '../../client/tollhouse.ts';
import { TollhouseError } from '../../client/errors.ts';
import { type Cli, command, EXIT, type ExitCode, Refused, UsageError } from '../command.ts';
import { number } from '../format.ts';
import { batchesOf } from '../ingest/batches.ts';
import { lock } from '../ingest/lock.ts';
import { ProgressBar } from '../ingest/progress-bar.ts';
import { type Progress, ProgressFile } from '../ingest/progress.ts';
import { pump, type Send, type Settled } from '../ingest/pump.ts';
import { Rejects } from '../ingest/rejects.ts';

const READ_BYTES = 256 * 1024;
const STATE_EVERY_MS = 250;
/** Longer than the service is away for a restart or a takeover. */
const PATIENCE_MS = 120_000;

export const ingest = command({
  about: 'Record the usage events of a file, one JSON object a line',
  args: [{ name: 'FILE', about: 'the file, or - for standard input', isFile: true }],
  options: {
    rejects: { value: 'FILE', about: 'where rejected lines go (default: FILE.rejected.ndjson)' },
    identity: { value: 'NAME', about: 'what keys are made of (default: the path of the file)' },
    restart: { about: 'begin at the first line again, whatever was done of the file' },
  },
  notes: [
    'How far it is stands in FILE.tollhouse: the same command goes on there. An event without',
    'external_id gets one from the identity, its line number and its text: it counts once.',
  ],
  async run(cli, { options, args: [path = ''] }) {
    if (path !== '-') return ingestFile(cli, path, options);
    if (options.restart) throw new UsageError('standard input cannot be read again');
    const { rejects = 'stdin.rejected.ndjson', identity = randomBytes(16).toString('hex') } =
      options;
    return ingestAll(cli, {
      from: { ...NOTHING, identity },
      chunks: cli.input(),
      rejects,
      size: null,
      save: () => Promise.resolve(),
    });
  },
});

const NOTHING: Omit<Progress, 'identity'> = {
  lines: 0,
  offset: 0,
  inserted: 0,
  duplicates: 0,
  rejected: 0,
  rejectedBytes: 0,
};

type Source = {
  readonly from: Progress;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly rejects: string;
  readonly size: number | null;
  readonly save: (progress: Progress) => Promise<void>;
};

type FileOptions = {
  readonly rejects: string | undefined;
  readonly identity: string | undefined;
  readonly restart: boolean;
};

async function ingestFile(cli: Cli, path: string, options: FileOptions): Promise<ExitCode> {
  const target = targetOf(cli);
  const file = await open(path).catch((error: unknown) => {
    throw new Refused(`cannot read ${path}: ${error instanceof Error ? error.message : ''}`);
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Refused(`${path} is no file: pipe it into tollhouse ingest -`);
    const release = await lock(`${path}.tollhouse.lock`);
    try {
      return await ingestLocked(cli, { path, file, target, options });
    } finally {
      await release();
    }
  } finally {
    await file.close();
  }
}

async function ingestLocked(
  cli: Cli,
  of: {
    readonly path: string;
    readonly file: FileHandle;
    readonly target: string;
    readonly options: FileOptions;
  },
): Promise<ExitCode> {
  const { path, file, target, options } = of;
  const { size } = await file.stat();
  const state = new ProgressFile(`${path}.tollhouse`, { target, file });
  const before = options.restart ? null : await state.read();
  const identity = options.identity ?? before?.identity ?? (await realpath(path));
  if (before !== null && before.identity !== identity) {
    throw new Refused(
      `${path}.tollhouse has the identity ${before.identity}: --restart to change it`,
    );
  }
  const from = before ?? { ...NOTHING, identity };
  if (from.offset > 0) {
    const what = from.offset === size ? 'nothing new behind' : 'going on behind';
    await cli.notices.line(`${what} line ${number(from.lines)}`);
  }
  return ingestAll(cli, {
    from,
    chunks: chunksOf(file, from.offset),
    rejects: options.rejects ?? `${path}.rejected.ndjson`,
    size,
    save: (progress) => state.write(progress),
  });
}

/** What it is sent to: what one service has counted, another has not. */
function targetOf({ url, apiKey }: Cli): string {
  return createHash('sha256').update(`${url}\n${apiKey()}`).digest('base64url');
}

async function* chunksOf(file: FileHandle, offset: number): AsyncGenerator<Uint8Array> {
  for (let position = offset; ;) {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function ingestAll(cli: Cli, source: Source): Promise<ExitCode> {
  const { from, chunks, size, save } = source;
  const rejects = new Rejects(source.rejects, from.rejectedBytes);
  const signal = cli.untilInterrupted();
  const shownOn = new ProgressBar(cli.notices, { size, from });
  let progress = from;
  let savedAt = performance.now();
  const settle = async (settled: Settled) => {
    await rejects.append(settled.rejects);
    progress = after(progress, settled, rejects.bytes);
    shownOn.show(progress);
    if (performance.now() - savedAt < STATE_EVERY_MS) return;
    await save(progress);
    savedAt = performance.now();
  };
  try {
    const batches = batchesOf(chunks, { identity: from.identity, from });
    await pump(batches, { send: senderOf(cli.client()), settle, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    await cli.notices.line(`stopped behind line ${number(progress.lines)}; run it again to go on`);
    return EXIT.failed;
  } finally {
    cli.notices.clear();
    await save(progress);
    await rejects.close();
  }
  await summarise(cli, progress, { rejects: source.rejects, seconds: shownOn.seconds });
  return progress.rejected > 0 ? EXIT.failed : EXIT.ok;
}

function after(progress: Progress, settled: Settled, rejectedBytes: number): Progress {
  const { batch, inserted, duplicates, rejects } = settled;
  return {
    identity: progress.identity,
    lines: batch.lines,
    offset: batch.offset,
    inserted: progress.inserted + inserted,
    duplicates: progress.duplicates + duplicates,
    rejected: progress.rejected + rejects.length,
    rejectedBytes,
  };
}

/** Refusals of a call for what is in it. With any other, no event of the file would be taken. */
const OF_CONTENT: ReadonlySet<string> = new Set([
  'invalid_request',
  'payload_too_large',
  'conflict',
  'idempotency_key_reused',
]);

function senderOf(client: Tollhouse): Send {
  return async (events, signal) => {
    try {
      // The service judges each event by itself, so they go as they came.
      const answer = await client.events.ingest(
        { events: events as [], partial: true },
        { signal, timeoutMs: PATIENCE_MS },
      );
      const rejected = (answer.rejected ?? []).map(({ index, issues }) => ({
        index,
        reason: issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; '),
      }));
      return { inserted: answer.inserted, duplicates: answer.duplicates, rejected };
    } catch (error) {
      if (error instanceof TollhouseError && OF_CONTENT.has(error.type)) {
        return { refused: error.message };
      }
      throw error;
    }
  };
}

async function summarise(
  { out, isJson }: Cli,
  { lines, inserted, duplicates, rejected }: Progress,
  about: { readonly rejects: string; readonly seconds: number },
): Promise<void> {
  if (isJson) {
    const file = rejected > 0 ? about.rejects : null;
    const seconds = Math.round(about.seconds * 1000) / 1000;
    const row = { lines, inserted, duplicates, rejected, rejects_file: file, seconds };
    return out.line(JSON.stringify(row));
  }
  const again = duplicates > 0 ? `, ${number(duplicates)} had been recorded before` : '';
  const refused = rejected > 0 ? `, ${number(rejected)} rejected (${about.rejects})` : '';
  await out.line(
    `${number(lines)} ${lines === 1 ? 'line' : 'lines'}: ${number(inserted)} recorded${again}${refused}`,
  );
}
