// Every operation of the HTTP surface, as its routes hand them to the edge; no route is ever called.
import { createApp, type AppDeps } from '../../../src/app.ts';
import { describe } from '../../../src/http/document.ts';
import type { Access } from '../../../src/http/document.ts';
import type { Edge } from '../../../src/http/edge.ts';
import type { Operation } from '../../../src/http/operation.ts';

export type Listed = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  readonly operation: Operation;
};

/** Whatever is asked of it is it again: routes only keep what they are given. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '1' : anything),
  apply: () => anything,
});

const DEPS: readonly (keyof AppDeps)[] = [
  'sql',
  'ids',
  'clock',
  'orgClock',
  'keyLocks',
  'changes',
  'readiness',
  'ledger',
  'meters',
  'settings',
  'limiter',
  'newToken',
  'registry',
  'secrets',
  'newSigningSecret',
  'resolve',
  'payments',
  'testClocks',
  'subscriptions',
  'sandbox',
  'processorFor',
];

export function listOperations(): Listed[] {
  const operations = new Map<unknown, { access: Access; operation: Operation }>();
  const route = (access: Access) => (operation: Operation) => {
    const detail = describe(access, operation);
    operations.set(detail, { access, operation });
    return [() => Promise.resolve(new Response()), { detail }];
  };
  const edge = {
    organisation: route('organisation'),
    group: route('group'),
    portal: route('portal'),
    open: route('open'),
  } as unknown as Edge;
  const deps = { ...Object.fromEntries(DEPS.map((name) => [name, anything])), edge };
  return createApp(deps as unknown as AppDeps).routes.flatMap(({ method, path, hooks }) => {
    const found = operations.get(hooks.detail);
    return found === undefined ? [] : [{ name: `${method} ${path}`, method, path, ...found }];
  });
}
