import { expect } from 'bun:test';
import type { Call, Reply } from '../../../support/server.ts';
import type { Setting } from '../setting.ts';

/** One of `results`: of an answer or of an error. */
export type Result = {
  readonly id: string;
  readonly customer_id: string;
  readonly consumed: number;
  readonly balance: number | null;
  readonly duplicate: boolean;
  readonly error?: {
    readonly type: string;
    readonly message: string;
    readonly issues?: readonly { readonly path: readonly string[]; readonly message: string }[];
  };
};

export function batchOf(setting: () => Setting) {
  const batch = (tracks: readonly unknown[], call: Call = {}): Promise<Reply> =>
    setting().post('/track/batch', { tracks }, call);
  /** Of a call in which every item is recorded. */
  const results = async (
    tracks: readonly unknown[],
    call: Call = {},
  ): Promise<readonly Result[]> => {
    const reply = await batch(tracks, call);
    expect([reply.status, reply.json.error]).toEqual([200, undefined]);
    const given = reply.json.results as Result[];
    expect(given.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(given).toHaveLength(tracks.length);
    return given;
  };
  return { batch, results };
}
