// Every failure, some times, under load: everything acknowledged is there afterwards.
import { violations } from '../chaos/verdict.ts';
import { BLOWS } from './blows.ts';
import type { Run } from './run.ts';
import { longestSilence } from './silence.ts';
import { startStand } from './stand.ts';
import { adminAudit, startTollhouse } from './tollhouse.ts';

const WARM_ANSWERS = 500;

/** Whether nothing was lost. */
export async function runLossless(run: Run): Promise<boolean> {
  const { processes, rounds, say } = run;
  const stand = await startStand(run, 'quorum');
  const { services, tenant, load } = await startTollhouse(run, stand, processes);
  const silences = new Map<string, number[]>(BLOWS.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const blow of BLOWS) {
      await load.book.moreAnswers(WARM_ANSWERS);
      let repair = (): Promise<void> => Promise.resolve();
      const silence = await longestSilence(load.book, async () => {
        repair = await blow.strike(stand, load.book);
      });
      silences.get(blow.name)?.push(silence);
      say(`${blow.name}: ${seconds(silence)} s without an answer`);
      await repair();
      await stand.whole();
    }
  }
  await load.stop();
  const { databaseUrl } = stand;
  const found = [
    ...(await violations({ url: await serving(services), databaseUrl, tenant }, load.book)),
    ...(await adminAudit(databaseUrl)),
  ];
  report(silences);
  const { answers, events, unavailable, unknown } = load.book;
  console.log(`
${answers} calls were answered, ${unavailable} were told 503 and ${unknown} nothing, and sent again. Of ${events.size} acknowledged events
${found.length === 0 ? 'each is there once, and `bun run admin audit` finds nothing.' : found.join('\n')}`);
  return found.length === 0;
}

async function serving(services: Awaited<ReturnType<typeof startTollhouse>>['services']) {
  for (const service of services) if (await service.isReady()) return service.url;
  throw new Error('nobody serves');
}

function report(silences: ReadonlyMap<string, readonly number[]>): void {
  console.log('| without an answer, s | min | median | max |\n| --- | ---: | ---: | ---: |');
  for (const [name, all] of silences) {
    const sorted = all.toSorted((one, other) => one - other);
    const at = (part: number): string =>
      seconds(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
    console.log(`| ${name} | ${at(0)} | ${at(0.5)} | ${at(1)} |`);
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
