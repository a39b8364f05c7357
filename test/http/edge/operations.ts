// Every operation of the HTTP surface, as its routes register it at the edge; no route is called.
import { createApp, type AppDeps } from '../../../src/app.ts';
import type { Described } from '../../../src/http/openapi/document.ts';
import type { Edge } from '../../../src/http/edge/edge.ts';
import type { Operation } from '../../../src/http/operation.ts';
import type { Guarded } from '../../../src/http/policy.ts';

export type Listed = Guarded & {
  readonly name: string;
  readonly method: string;
  readonly path: string;
};

/** Every property and call returns the object itself: routes only store what they are given. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '1' : anything),
  apply: () => anything,
});

const DEPS: readonly (keyof AppDeps)[] = [
  'clients',
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
  'processors',
  'processorAccounts',
  'processorWebhooks',
  'acting',
  'door',
  'openPages',
  'userMailer',
];

/** Whether it changes what both modes share: a key of test mode may not (test/http/people). */
export function changesBothModes({ method, path }: { method: string; path: string }): boolean {
  return method !== 'GET' && /^\/(?:members|invitations|organization\/security)/.test(path);
}

export function listOperations(): Listed[] {
  return listRoutes().flatMap(({ method, path, hooks }) => {
    // The pages of the dashboard are no operations: they call these.
    if (hooks.detail === undefined) return [];
    const described = hooks.detail as unknown as Described;
    return [{ ...described, name: `${method} ${path}`, method, path }];
  });
}

/** The routes of the whole app. */
export function listRoutes() {
  const route = (access: Guarded['access']) => (operation: Operation) => [
    () => Promise.resolve(new Response()),
    { detail: { operationId: operation.operationId, access, operation } },
  ];
  const edge = {
    organisation: route('organisation'),
    group: route('group'),
    portal: route('portal'),
    open: route('open'),
  } as unknown as Edge;
  const deps = { ...Object.fromEntries(DEPS.map((name) => [name, anything])), edge };
  return createApp(deps as unknown as AppDeps).routes;
}
