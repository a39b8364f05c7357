// What a test file needs, as its imports show: most of what it costs follows from that.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Graph, ROOT } from './graph.ts';

/** From the cheapest to the dearest. */
export const KINDS = [
  'pure',
  'simulation',
  'database',
  'server',
  'cluster',
  'browser',
  'processes',
] as const;

export type Kind = (typeof KINDS)[number];

/** Files that start PostgreSQL and Redis, and files that use the started ones. */
const SERVICES = ['src/platform/embedded/services.ts', 'test/support/services.ts'];
const SERVER = 'test/support/server.ts';
const NODES = 'test/cluster/nodes.ts';
/** What starts Chromium. */
const BROWSER = 'test/pages/browser.ts';
/** What starts a program: no rule takes that long. */
const STARTS = /\bBun\.spawn\b|'node:child_process'/;

/** Of files relative to the root. */
export class Kinds {
  readonly #graph: Graph;
  readonly #starting = new Map<string, boolean>();

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** Where servers are three nodes, what calls one calls a cluster. */
  of(file: string, { TEST_NODES }: Readonly<Record<string, string>> = {}): Kind {
    const reached = this.#graph.reach(file);
    if (file.startsWith('test/simulation/')) return 'simulation';
    if (reached.has(BROWSER)) return 'browser';
    if ([...reached].some((path) => this.#starts(path))) return 'processes';
    if (reached.has(NODES)) return 'cluster';
    if (reached.has(SERVER)) return TEST_NODES === undefined ? 'server' : 'cluster';
    return this.needsServices(file) ? 'database' : 'pure';
  }

  needsServices(file: string): boolean {
    const reached = this.#graph.reach(file);
    return SERVICES.some((services) => reached.has(services));
  }

  #starts(path: string): boolean {
    if (!path.startsWith('test/') || !path.endsWith('.ts')) return false;
    const known = this.#starting.get(path);
    if (known !== undefined) return known;
    const starts = STARTS.test(readFileSync(join(ROOT, path), 'utf8'));
    this.#starting.set(path, starts);
    return starts;
  }
}
