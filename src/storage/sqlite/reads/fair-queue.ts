import { RoundRobin } from '../../../admission/round-robin.ts';

/** Queue of reads that wait for a thread, with a line per store. */
export class FairQueue<T extends { readonly path: string }> extends RoundRobin<string, T> {
  constructor() {
    super(({ path }) => path);
  }

  /**
   * Returns the store whose turn it is: among those with the fewest active reads, the one whose last turn was longest ago.
   * @param maxAtWork maximum active reads of one store
   */
  turn(atWork: (path: string) => number, maxAtWork: number): string | undefined {
    let turn: string | undefined;
    let fewest = maxAtWork;
    for (const path of this.keys()) {
      const busy = atWork(path);
      if (busy >= fewest) continue;
      turn = path;
      fewest = busy;
    }
    return turn;
  }
}
