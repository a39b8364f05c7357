// The `Peers` port of one process: calls and answers between nodes, in any order, some of them
// lost.
import { PeerFailure, type Peers } from '../../ledger/ports.ts';
import type { Network } from './network.ts';
import type { Machine } from './schedule.ts';

/** The process that listens at an address now. */
export type Listener = {
  readonly machine: Machine;
  readonly answer: (request: unknown) => Promise<unknown>;
};

export type Switchboard = {
  readonly network: Network;
  readonly listeners: ReadonlyMap<string, Listener>;
};

type Asked = { readonly address: string; readonly fail: (failure: PeerFailure) => void };

export function peersOf(board: Switchboard, machine: Machine): Peers {
  const asked = new Set<Asked>();
  return {
    ask: (address, request, { withinMs }) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const one: Asked = { address, fail: (failure) => end(() => reject(failure)) };
      asked.add(one);
      const failLater = (maybeDone: boolean): void => {
        const failure = new PeerFailure('the connection was lost', maybeDone);
        const { schedule } = board.network;
        // Where nothing reports it, the deadline does.
        if (schedule.random.chance(0.7))
          schedule.after(board.network.latency(), machine, () => one.fail(failure));
      };
      const cancel = board.network.schedule.after(withinMs, machine, () =>
        one.fail(new PeerFailure('no answer in time', true)),
      );
      const end = (settle: () => void): void => {
        asked.delete(one);
        cancel();
        settle();
      };
      carry(
        board,
        { from: machine, address, request },
        { answered: (answer) => end(() => resolve(answer)), failLater },
      );
      return promise;
    },
    giveUp: (address) => {
      for (const one of asked) {
        if (one.address === address) one.fail(new PeerFailure('the node is dead', true));
      }
    },
  };
}

function carry(
  { network, listeners }: Switchboard,
  ask: { readonly from: Machine; readonly address: string; readonly request: unknown },
  then: {
    readonly answered: (answer: unknown) => void;
    readonly failLater: (maybeDone: boolean) => void;
  },
): void {
  const listener = listeners.get(ask.address);
  if (listener === undefined || listener.machine.isDead) return then.failLater(false);
  const { machine, answer } = listener;
  const [from, to] = [ask.from.name, machine.name];
  const sent = structuredClone(ask.request);
  // Whether the call was taken before the cut is unknown.
  const lost = (): void => then.failLater(true);
  const back = { from: to, to: from, at: ask.from };
  const take = async (): Promise<void> => {
    try {
      const copy = structuredClone(await answer(sent));
      network.send(back, () => then.answered(copy), lost);
    } catch {
      // The transport tells an exception of the other side from an answer.
      network.send(back, lost, lost);
    }
  };
  const arrive = (): void => {
    take().catch(lost);
  };
  network.send({ from, to, at: machine }, arrive, lost);
}
