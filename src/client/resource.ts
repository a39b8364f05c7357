// A resource is a table: the name of a method, and the operation that it calls (resources.ts,
// written from the operations). The arguments are the ids of the path in their order, the fields of
// the query or the body, and options.
import type { Caller, CallOptions } from './caller.ts';
import { type Operation, type OperationId, OPERATIONS } from './operations.ts';
import { RESOURCES } from './resources.ts';
import { List, type Page, type PageParams } from './page.ts';
import type { Operations } from './types.ts';

type Table = Readonly<Record<string, OperationId>>;

/** The methods of a table. Written out, so that an editor shows the arguments of each. */
type Resource<T extends Table> = {
  readonly [Name in keyof T]: (
    ...args: [...Operations[T[Name]]['args'], options?: CallOptions]
  ) => Answer<Operations[T[Name]]>;
};

type Answer<O> = O extends { item: infer T extends { readonly id: string } }
  ? List<T>
  : O extends { answer: infer T }
    ? Promise<T>
    : never;

function resourceOf<T extends Table>(caller: Caller, table: T): Resource<T> {
  const methods = Object.entries(table).map(([name, id]) => [name, methodOf(caller, id)] as const);
  return Object.fromEntries(methods) as unknown as Resource<T>;
}

export type Resources = {
  readonly [Name in keyof typeof RESOURCES]: Resource<(typeof RESOURCES)[Name]>;
};

export function resourcesOf(caller: Caller): Resources {
  const all = Object.entries(RESOURCES).map(([name, table]) => [name, resourceOf(caller, table)]);
  return Object.fromEntries(all) as Resources;
}

function methodOf(caller: Caller, id: OperationId) {
  const { path: template, params: from, list: isList }: Operation = OPERATIONS[id];
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return (...args: readonly unknown[]) => {
    // Not before the call: what is wrong with an argument rejects, as all else does.
    const pathOf = () =>
      Object.fromEntries(names.map((name, at) => [name, idOf(name, args[at])] as const));
    const params = from === 'none' ? undefined : (args[names.length] as object | undefined);
    const options = args[names.length + (from === 'none' ? 0 : 1)] as CallOptions | undefined;
    if (isList !== true) {
      const call = async (): Promise<unknown> =>
        caller.call(id, { path: pathOf(), ...(params && { [from]: params }) }, options);
      return call();
    }
    const read = async (query: PageParams): Promise<Page<{ readonly id: string }>> =>
      caller.call(id, { path: pathOf(), query }, options);
    return new List(read, params ?? {});
  };
}

/** One segment of a path: an address without it, or with dots for it, is of another resource. */
function idOf(name: string, value: unknown): string {
  if (typeof value === 'string' && !/^\.{0,2}$/.test(value)) return value;
  throw new TypeError(`${name} must be a string that is not empty, "." or ".."`);
}
