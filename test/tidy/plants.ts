// One planted fault for each thing that a rule must find: path → text, never a file.
import type { RuleName } from './rules.ts';

type Plant = { fault: string; files: Record<string, string> };

const file = (path: string, text: string): Record<string, string> => ({ [path]: text });

export const PLANTED: Record<RuleName, Plant[]> = {
  'each layer imports only what its row allows': [
    { fault: 'side effect', files: file('ledger/kernel/money.ts', `import 'elysia';`) },
    { fault: 'default', files: file('ledger/kernel/money.ts', `import fs from 'node:fs';`) },
    {
      fault: 'builtin without node:',
      files: file('ledger/kernel/money.ts', `import { join } from 'path';`),
    },
    {
      fault: 'type',
      files: file('ledger/kernel/money.ts', `import type { Sql } from 'postgres';`),
    },
    {
      fault: 're-export',
      files: file('ledger/kernel/money.ts', `export { app } from '../src/app.ts';`),
    },
    {
      fault: 'star',
      files: file('ledger/kernel/money.ts', `export * from '../workers/queues.ts';`),
    },
    {
      fault: 'type re-export',
      files: file('ledger/kernel/money.ts', `export type { A } from 'ioredis';`),
    },
    {
      fault: 'dynamic',
      files: file('ledger/kernel/money.ts', `const b = await import('bullmq');`),
    },
    {
      fault: 'type query',
      files: file('ledger/kernel/money.ts', `type A = import('bullmq').Job;`),
    },
    { fault: 'require', files: file('ledger/kernel/money.ts', `const b = require('bullmq');`) },
    {
      fault: 'several lines, with a quote in a comment',
      files: file(
        'ledger/kernel/money.ts',
        `import {\n  Queue, // the worker's\n  Job,\n} from 'bullmq';`,
      ),
    },
    {
      fault: 'second on a line',
      files: file('ledger/kernel/money.ts', `import a from 'big.js'; import b from 'bullmq';`),
    },
    {
      fault: 'core to actor',
      files: file('ledger/metering/meter.ts', `import { a } from '../actor/actor.ts';`),
    },
    {
      fault: 'core to store',
      files: file('ledger/ledger.ts', `import { j } from './store/journal.ts';`),
    },
    {
      fault: 'a private decision',
      files: file('ledger/actor/unit.ts', `import { a } from '../subscriptions/renewal.ts';`),
    },
    {
      fault: 'a private actor',
      files: file('ledger/cluster/router.ts', `import { j } from '../actor/journal.ts';`),
    },
    {
      fault: 'a private meter',
      files: file(
        'src/http/routes/track.ts',
        `import { r } from '../../../ledger/metering/usage.ts';`,
      ),
    },
    {
      fault: 'payments to subscriptions',
      files: file(
        'ledger/payments/refund.ts',
        `import { s } from '../subscriptions/subscription.ts';`,
      ),
    },
    {
      fault: 'actor to driver',
      files: file('ledger/actor/actor.ts', `import postgres from 'postgres';`),
    },
    {
      fault: 'actor to store',
      files: file('ledger/actor/actor.ts', `import { j } from '../store/journal.ts';`),
    },
    {
      fault: 'store to redis',
      files: file('ledger/store/journal.ts', `import Redis from 'ioredis';`),
    },
    { fault: 'store to fs', files: file('ledger/store/journal.ts', `import fs from 'node:fs';`) },
    {
      fault: 'elysia in records',
      files: file('src/records/keys.ts', `import { t } from 'elysia';`),
    },
    {
      fault: 'elysia in pages',
      files: file('src/pages/pay.ts', `import { html } from '@elysiajs/html';`),
    },
    {
      fault: 'schema in records',
      files: file('src/records/keys.ts', `import { Type } from '@sinclair/typebox';`),
    },
    {
      fault: 'driver value in records',
      files: file('src/records/keys.ts', `import postgres from 'postgres';`),
    },
    {
      // verbatimModuleSyntax keeps the import itself, so this loads the driver.
      fault: 'driver value in records, written as a type',
      files: file('src/records/keys.ts', `import { type Sql } from 'postgres';`),
    },
    {
      fault: 'http to actor',
      files: file(
        'src/http/routes/track.ts',
        `import { a } from '../../../ledger/actor/actor.ts';`,
      ),
    },
    {
      fault: 'http to store',
      files: file(
        'src/http/edge/auth.ts',
        `import type { J } from '../../ledger/store/journal.ts';`,
      ),
    },
    {
      fault: 'bullmq outside workers',
      files: file('src/platform/redis/redis.ts', `import { Queue } from 'bullmq';`),
    },
    {
      fault: 'worker to http',
      files: file('workers/relay.ts', `import { r } from '../src/http/error.ts';`),
    },
    {
      fault: 'worker to actor',
      files: file('workers/relay.ts', `import { a } from '../ledger/actor/actor.ts';`),
    },
    {
      fault: 'worker to journal',
      files: file('workers/relay.ts', `import { j } from '../ledger/actor/journal.ts';`),
    },
    {
      fault: 'root to test',
      files: file('src/main.ts', `import { w } from '../test/simulation/world.ts';`),
    },
    {
      fault: 'client to the service',
      files: file('src/client/page.ts', `import type { P } from '../http/page.ts';`),
    },
    { fault: 'client to fs', files: file('src/client/page.ts', `import fs from 'node:fs';`) },
    {
      fault: 'client to a dependency',
      files: file('src/client/types.ts', `import { Type } from '@sinclair/typebox';`),
    },
    {
      fault: 'command line to the service',
      files: file('src/cli/main.ts', `import { c } from '../config.ts';`),
    },
    { fault: 'unplaced folder', files: file('src/services/pay.ts', `export const a = 1;`) },
  ],
  'no import of a computed path': [
    { fault: 'a variable', files: file('src/app.ts', `const m = await import(name);`) },
    { fault: 'a template', files: file('src/app.ts', 'const m = await import(`./${name}.ts`);') },
  ],
  'no barrels, and every import names its file': [
    { fault: 'star', files: file('ledger/all.ts', `export * from './money.ts';`) },
    {
      fault: 'a re-export beside the entry point',
      files: file('src/client/page.ts', `export { A } from './types.ts';`),
    },
    { fault: 'index', files: file('src/http/index.ts', `export const a = 1;`) },
    { fault: 'no extension', files: file('src/http/edge/auth.ts', `import { e } from './error';`) },
  ],
  'the top level is fixed': [
    { fault: 'a folder', files: file('lib/money.ts', '') },
    { fault: 'a file', files: file('index.ts', '') },
    { fault: 'a document', files: file('GUIDE.md', '') },
  ],
  'names say what is inside': [
    { fault: 'a folder', files: file('src/utils/date.ts', '') },
    { fault: 'a file', files: file('src/http/test-helpers.ts', '') },
    { fault: 'camel case', files: file('ledger/actorManager.ts', '') },
    { fault: 'a version', files: file('ledger/meterV2.ts', '') },
    { fault: 'a dashed version', files: file('ledger/meter-v2.ts', '') },
  ],
  'files stay short': [
    { fault: 'code', files: file('ledger/kernel/money.ts', 'a;\n'.repeat(501)) },
    { fault: 'SQL', files: file('src/database/migrations/0001_init.sql', '--\n'.repeat(501)) },
  ],
  'invariants are defined once and cited': [
    {
      fault: 'undefined',
      files: { 'ledger/README.md': '- **I1** one', 'ledger/a.ts': '// Holds I1 and I7.' },
    },
    {
      fault: 'defined twice',
      files: { 'ledger/README.md': '**I1** one\n**I1** two', 'ledger/a.ts': '// I1' },
    },
    { fault: 'never cited', files: file('ledger/README.md', '- **I3** three') },
  ],
  'links lead somewhere': [
    { fault: 'a file', files: file('src/API.md', 'See [it](gone.md).') },
    { fault: 'a chapter', files: file('README.md', '# One\n\nSee [it](#two).') },
    {
      fault: 'a chapter elsewhere',
      files: { 'README.md': 'See [it](src/API.md#two).', 'src/API.md': '## One' },
    },
  ],
  'comments cite the specification by chapter': [
    { fault: 'a file', files: file('src/a.ts', '// What is due (docs/spec/gone.md).') },
    {
      fault: 'a chapter',
      files: {
        'src/a.ts': '// What is due (docs/spec/usage.md#gone).',
        'docs/spec/usage.md': '## Check',
      },
    },
    { fault: 'a text by its number', files: file('ledger/a.ts', '// Burn order (decisions 5).') },
    { fault: 'a text that is not here', files: file('src/a.ts', '// Rating (beyond.md 2).') },
    { fault: 'the contract', files: file('workers/a.ts', '// A signature (contract, Events).') },
    { fault: 'research', files: file('test/a.ts', '// By research 4.4.') },
  ],
  'paths named in a document exist': [
    { fault: 'in another document', files: file('src/API.md', 'See `test/gone/`.') },
    { fault: 'from the top', files: file('README.md', 'See `ledger/gone.ts`.') },
    { fault: 'in its folder', files: file('ledger/README.md', 'See `gone.ts:12`.') },
    { fault: 'in a command', files: file('README.md', 'Run `bun test/gone/run.ts --all`.') },
    { fault: 'a folder', files: file('README.md', 'See `src/gone/`.') },
    { fault: 'a glob', files: file('README.md', 'See `test/**/*.gone.ts`.') },
  ],
  'every test runs': [
    { fault: 'only', files: file('test/a.test.ts', `test.only('a', () => {});`) },
    { fault: 'skip', files: file('test/a.test.ts', `describe.skip('a', () => {});`) },
    { fault: 'only.each', files: file('test/a.test.ts', `test.only.each([1])('a', () => {});`) },
    { fault: 'skipIf', files: file('test/a.test.ts', `test.skipIf(!url)('a', () => {});`) },
  ],
  'the ledger reads no clock': [
    { fault: 'new Date()', files: file('ledger/metering/meter.ts', 'const now = new Date();') },
    { fault: 'new Date', files: file('ledger/metering/meter.ts', 'const now = new Date;') },
    { fault: 'Date()', files: file('ledger/actor/actor.ts', 'const now = Date();') },
  ],
  'comments keep 100 columns': [
    { fault: 'a line', files: file('src/a.ts', `// ${'word '.repeat(20)}`) },
    { fault: 'in a block', files: file('ledger/a.ts', `/**\n * ${'word '.repeat(20)}\n */`) },
    { fault: 'behind spaces', files: file('test/a.ts', `    /** ${'word '.repeat(20)} */`) },
  ],
  'the words of the glossary': [
    {
      fault: 'on a page',
      files: {
        'docs/GLOSSARY.md': '## Replaced\n| not | but |\n| --- | --- |\n| Free days | Trial days |',
        'src/pages/a.ts': "const label = 'Free days';",
      },
    },
    {
      fault: 'in a document',
      files: {
        'docs/GLOSSARY.md': '## Replaced\n| putOff | postpone |',
        'src/README.md': 'A task is `putOff`.',
      },
    },
  ],
  'no pattern repeats a choice': [
    { fault: 'a repetition', files: file('src/http/a.ts', String.raw`const A = /^(\w+)*$/;`) },
    {
      fault: 'a choice',
      files: file('src/http/a.ts', String.raw`if (/^(?:a|\w){1,9}$/.test(b)) c();`),
    },
    { fault: 'parts', files: file('src/http/a.ts', 'const A = { pattern: `^${LETTER}{1,40}$` };') },
    { fault: 'deeper', files: file('ledger/a.ts', String.raw`const A = /^(?:(?:a+)b)+$/;`) },
    {
      fault: 'in a schema',
      files: file('src/http/a.ts', String.raw`const A = { pattern: '^(?:[\\w-]+\\.)+$' };`),
    },
  ],
};

/** Correct files that a rule must not report. */
export const SOUND: Record<string, string> = {
  'src/API.md': '## Who it is: for\n\n[there](../README.md#a-b), [here](#who-it-is-for)',
  'README.md':
    '# A b\n\nSee `ledger/store/journal.ts`, `test/`, `/check`, `POST /track`, `src/**/*.ts`.',
  'ledger/README.md': '- **I1** one. See `kernel/money.ts` and `store/journal.ts`.',
  'docs/GLOSSARY.md': '| term | meaning |\n\n## Replaced\n| putOff | postpone |',
  'docs/spec/usage.md': '# Usage\n\n## In the small\n',
  'src/http/route.ts': '// What is due (docs/spec/usage.md#in-the-small), by the contract.',
  'ledger/kernel/money.ts': [
    `import Big from 'big.js'; // not import('elysia')`,
    `import { assert } from './assert.ts';`,
    `//     ${'a ─▶ '.repeat(25)}`,
    `const glob = 'a/**/b'; const url = 'https://example.com/work/x';`,
    `export const day = (ms: number) => new Date(ms).toISOString(); // I1`,
    `assert(Big(1).eq(1));`,
  ].join('\n'),
  'ledger/kernel/assert.ts': 'export function assert(held: boolean): asserts held { must(held); }',
  'ledger/store/journal.ts': [
    `import type { Sql } from 'postgres';`,
    `import schema from './migrations/0001_init.sql' with { type: 'text' };`,
    `import { assert } from '../assert.ts';`,
    `export const run = (sql: Sql) => assert(schema !== '' && sql !== null);`,
  ].join('\n'),
  'src/app.ts': `import { Elysia } from 'elysia';\nexport const app = new Elysia();`,
  'src/records/keys.ts': `import type { Sql } from 'postgres';\nexport type Keys = { sql: Sql };`,
  'workers/relay.ts': `import { Queue } from 'bullmq';\nexport const queue = new Queue('relay');`,
  'src/http/uuid.ts': String.raw`export const A = /^[(|]+(?:\d{4}-){3}(?:a|b)?$/.test('a / b / (c+)*');`,
  'src/client/index.ts': `export { List } from './page.ts';`,
  'test/a.test.ts': `import { app } from '../src/app.ts';\ntest.each([1])('%p', () => app);`,
};
