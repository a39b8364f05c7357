// Calls about keys, as one key or another.
import { expect } from 'bun:test';
import { insertKey, type NewKey } from '../../../src/records/api-keys.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { Call, Reply, TestServer } from '../../support/server.ts';

/** A key with its text. */
export type Made = { readonly id: string; readonly key: string } & Readonly<
  Record<string, unknown>
>;

export class Keys {
  readonly server: TestServer;

  constructor(server: TestServer) {
    this.server = server;
  }

  post(body?: unknown, call: Call = {}): Promise<Reply> {
    return this.server.call('POST', '/api-keys', { ...(body !== undefined && { body }), ...call });
  }

  async make(body: object = {}, call: Call = {}): Promise<Made> {
    const { status, json, text } = await this.post(body, call);
    expect([status, text]).toEqual([201, text]);
    return json;
  }

  /** A key that `insertKey` makes; it may have expired. */
  async insert(wanted: Partial<NewKey> = {}): Promise<Made> {
    const id = ids.next();
    const owner = { kind: 'organisation', organisationId: this.server.organisation.id } as const;
    const given = { id, owner, mode: 'test', expiresAt: null, now: Date.now(), ...wanted } as const;
    return { id, key: await this.server.sql.begin((sql) => insertKey(sql, given)) };
  }

  revoke(id: string, call: Call = {}): Promise<Reply> {
    return this.server.call('DELETE', `/api-keys/${id}`, call);
  }

  rotate(id: string, body?: unknown, call: Call = {}): Promise<Reply> {
    const given = { ...(body !== undefined && { body }), ...call };
    return this.server.call('POST', `/api-keys/${id}/rotate`, given);
  }

  list(query = '', call: Call = {}): Promise<Reply> {
    return this.server.call('GET', `/api-keys${query}`, call);
  }

  async find(id: string, call: Call = {}): Promise<Record<string, unknown>> {
    const { json } = await this.list('?limit=200', call);
    return json.data.find((key: Made) => key.id === id);
  }

  /** Its status for the key; a call to each node, where there are several. */
  async opens(key: string): Promise<number> {
    const calls = [1, 2, 3].map(() => this.server.call('GET', '/meters', { key }));
    const statuses = new Set((await Promise.all(calls)).map(({ status }) => status));
    expect(statuses.size).toBe(1);
    return [...statuses][0]!;
  }
}
