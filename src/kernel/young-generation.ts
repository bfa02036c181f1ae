import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'minor' }) => void;
let collect: Collect | undefined;

/**
 * Collects the young generation: what is alive in it moves to the old one. V8 does this by itself when it is full, at 64 MB, which takes 30 to 60 ms
 * if most of that is alive; of a few megabytes it takes a few milliseconds.
 */
export function collectYoung(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
    setFlagsFromString('--no-expose-gc');
  }
  collect({ type: 'minor' });
}
