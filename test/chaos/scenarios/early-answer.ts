// A slow flush: no caller is answered before it commits.
import { differs, withGatedNode } from './gated-node.ts';

const CALLS = Array.from({ length: 5 }, (_, index) => `call-${index}`);

export function earlyAnswer(): Promise<string[]> {
  return withGatedNode(async (node) => {
    const holding = node.gate.hold('reply');
    let answers = 0;
    const calls = CALLS.map(async (key) => {
      const status = await node.track(key);
      answers += 1;
      return status;
    });
    const held = await holding;
    // An early answer would have arrived before the answer to this request.
    await node.check();
    await node.check();
    const early = answers;
    held.release();
    const statuses = await Promise.all(calls);
    return [
      ...differs('answers before the flush was known to be committed', early, 0),
      ...differs('answers', statuses, [200, 200, 200, 200, 200]),
      ...(await node.violations(CALLS)),
    ];
  });
}
