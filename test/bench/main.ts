// `bun run bench`: README.md says what it measures and how to read it.
//
// Exits with 1 after any error, even of one request; a missed goal is no error.
import { constants } from 'node:os';
import { Closers } from '../support/closers.ts';
import { openStores, openTargets } from './bed/bed.ts';
import type { Stores } from './bed/service.ts';
import { isOfMoney } from './cases.ts';
import { runBins } from './bins/bins.ts';
import { binsMarkdown } from './bins/report.ts';
import { runClient } from './client/client.ts';
import { clientMarkdown } from './client/report.ts';
import { runCluster } from './cluster/cluster.ts';
import { clusterMarkdown, problemsOf } from './cluster/report.ts';
import { COUNTS_STATEMENTS, runDashboard } from './dashboard/dashboard.ts';
import { dashboardMarkdown } from './dashboard/report.ts';
import { runLedger } from './ledger-alone/ledger.ts';
import { ledgerMarkdown } from './ledger-alone/report.ts';
import { runMemory } from './memory/memory.ts';
import { growthOf, memoryMarkdown } from './memory/report.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { describeMachine, type Machine } from './probes/machine.ts';
import { beforeOf, changesOf } from './report/comparison.ts';
import { readResults, resultsOf } from './report/figures.ts';
import { goalsOf } from './report/goals.ts';
import { jsonOf } from './report/json.ts';
import { markdownOf } from './report/markdown.ts';
import { renewalsMarkdown } from './renewals/report.ts';
import { runRenewals } from './renewals/renewals.ts';
import { type Row, runCases } from './rounds.ts';
import { webhooksMarkdown } from './webhooks/report.ts';
import { runWebhooks } from './webhooks/webhooks.ts';
import { wireMarkdown } from './wire/report.ts';
import { runWire } from './wire/wire.ts';

const aborting = new AbortController();
let stoppedBy: NodeJS.Signals | undefined;
function onSignal(signal: NodeJS.Signals): void {
  stoppedBy ??= signal;
  aborting.abort(new Error('stopped'));
}
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);

/** Whether there was no error. */
async function main(options: Options): Promise<boolean> {
  const closers = new Closers();
  try {
    say('starting PostgreSQL and Redis');
    const isWatched = options.alone === 'dashboard';
    const stores = await openStores(closers, isWatched ? COUNTS_STATEMENTS : '');
    const machine = await describeMachine(stores);
    const kinds = {
      memory,
      webhooks,
      renewals,
      peers,
      ledger,
      bins,
      dashboard,
      cluster,
      client,
    } as const;
    const kind = options.alone === null ? cases : kinds[options.alone];
    return await kind({ options, stores, closers, machine });
  } finally {
    await closers.close();
  }
}

interface Run {
  readonly options: Options;
  readonly stores: Stores;
  readonly closers: Closers;
  readonly machine: Machine;
}

async function cases({ options, stores, closers, machine }: Run): Promise<boolean> {
  const earlier =
    options.compare === null ? null : readResults(await Bun.file(options.compare).text());
  say('starting the service and what it is compared with');
  const { against, withPeers } = options;
  const withMoney = options.cases.some(isOfMoney);
  const targets = await openTargets(stores, closers, { withMoney, withPeers, against });
  const { rows, losses } = await runCases({ targets, options, signal: aborting.signal, say });
  const results = resultsOf(rows);
  const before = beforeOf(results, earlier);
  const changes = before === null ? [] : changesOf(results, before);
  const goals = goalsOf(results, before);
  const problems = [...rows.flatMap(problemsOfRow), ...losses];
  const report = { results, changes, goals, machine, problems };
  console.log(options.json ? jsonOf(report) : markdownOf(rows, report));
  return problems.length === 0;
}

function problemsOfRow({ measured }: Row): readonly string[] {
  return [...measured.values()].flat().flatMap(({ problems }) => problems);
}

async function memory({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { customers, seconds, json } = options;
  const { signal } = aborting;
  const segments = await runMemory(stores, closers, { customers, seconds, signal, say });
  const growthMibPerMinute = growthOf(segments);
  console.log(
    json
      ? JSON.stringify({ machine, customers, segments, growthMibPerMinute }, null, 2)
      : memoryMarkdown(segments, { customers, machine }),
  );
  for (const sample of segments.flatMap(({ samples }) => samples)) say(sample);
  return segments.every(({ errors }) => errors === 0);
}

async function webhooks({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { seconds, due, json } = options;
  const { signal } = aborting;
  const results = await runWebhooks(stores, closers, { seconds, due, signal, say });
  console.log(
    json ? JSON.stringify({ machine, results }, null, 2) : webhooksMarkdown(results, machine),
  );
  return results.every(({ missing, unsigned, failed }) => missing + unsigned + failed === 0);
}

async function renewals({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { subscriptions: count, json } = options;
  const { signal } = aborting;
  const result = await runRenewals(stores, closers, { count, signal, say });
  console.log(
    json ? JSON.stringify({ machine, ...result }, null, 2) : renewalsMarkdown(result, machine),
  );
  for (const problem of result.problems) say(problem);
  return result.problems.length === 0;
}

async function peers({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { measureMs, json } = options;
  const { signal } = aborting;
  const results = await runWire(stores, closers, { measureMs, signal, say });
  console.log(
    json ? JSON.stringify({ machine, results }, null, 2) : wireMarkdown(results, machine),
  );
  return true;
}

async function ledger({ options, machine }: Run): Promise<boolean> {
  const { rounds, measureMs, json } = options;
  const results = await runLedger({ rounds, measureMs, signal: aborting.signal, say });
  console.log(
    json ? JSON.stringify({ machine, results }, null, 2) : ledgerMarkdown(results, machine),
  );
  return true;
}

async function bins({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { rounds, json } = options;
  const results = await runBins(stores, closers, { rounds, signal: aborting.signal, say });
  console.log(
    json ? JSON.stringify({ machine, results }, null, 2) : binsMarkdown(results, machine),
  );
  return true;
}

async function dashboard({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { customers, json } = options;
  const { signal } = aborting;
  const rounds = 1 + options.rounds;
  const taken = await runDashboard(stores, closers, { customers, rounds, signal, say });
  console.log(
    json
      ? JSON.stringify({ machine, customers, taken }, null, 2)
      : dashboardMarkdown(taken, { customers, machine }),
  );
  return taken.every(({ status }) => status === 200);
}

async function cluster({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { parts, rounds, warmUpMs, measureMs, json } = options;
  const { signal } = aborting;
  const pace = { rounds, warmUpMs, measureMs };
  const result = await runCluster(stores, closers, { parts, pace, signal, say });
  console.log(
    json ? JSON.stringify({ machine, ...result }, null, 2) : clusterMarkdown(result, machine),
  );
  const problems = problemsOf(result);
  for (const problem of problems) say(problem);
  return problems.length === 0;
}

async function client({ options, stores, closers, machine }: Run): Promise<boolean> {
  const { clientParts: parts, rounds, warmUpMs, measureMs, calls, kills, json } = options;
  const { signal } = aborting;
  const pace = { parts, rounds, warmUpMs, measureMs, calls, kills };
  const result = await runClient(stores, closers, { ...pace, signal, say });
  console.log(
    json ? JSON.stringify({ machine, ...result }, null, 2) : clientMarkdown(result, machine),
  );
  for (const problem of result.problems) say(problem);
  return result.problems.length === 0;
}

function say(line: string): void {
  console.error(line);
}

async function run(): Promise<number> {
  try {
    const isFine = await main(parseOptions(process.argv.slice(2)));
    return isFine ? 0 : 1;
  } catch (error) {
    if (stoppedBy !== undefined) return 128 + constants.signals[stoppedBy];
    console.error(error instanceof Error ? error.message : error);
    if (error instanceof TypeError) console.error(USAGE);
    return 1;
  }
}

process.exit(await run());
