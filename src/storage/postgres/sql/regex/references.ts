import { fail } from '../../../../errors/fail.ts';
import { all, type Capture, type Node, nothing, type Reference, repeat, takesNoText } from './tree.ts';

/** A tree without references that match no text, with new numbers for the groups that the remaining ones refer to. */
export interface Resolved {
  readonly tree: Node;
  readonly numbers: ReadonlyMap<number, number>;
  readonly references: readonly Reference[];
}

/** A node with its ancestors, from the root, each with its position in its parent. */
type Path = readonly { readonly node: Node; readonly place: number }[];

/** Maximum count of one repeat in PostgreSQL. Larger ones are written as several, and a capturing group cannot be repeated in the pattern. */
const MAX_COUNT = 255;
/** Maximum iterations of a repeat that are unrolled. */
const MAX_UNROLLED = 10;

/**
 * Resolves back references. In JavaScript, a reference to a group that has not matched (yet) matches the empty text; in PostgreSQL it fails. So it
 * must be known statically which groups have matched.
 * @throws badQuery (102) if that depends on the text, and for references into or within lookaround, which PostgreSQL lacks
 */
export function resolveReferences(root: Node): Resolved {
  const captures = new Map<number, Path>();
  const references: Path[] = [];
  collect(root, 0, [], captures, references);
  const replaced = new Map<Node, Node>();
  const kept: Reference[] = [];
  const numbers = new Map<number, number>();
  for (const path of references) {
    const reference = path.at(-1)?.node as Reference;
    const to = captures.get(reference.to);
    if (!to) refuse();
    if (neverSet(path, to, replaced)) {
      replaced.set(reference, nothing);
    } else {
      numbers.set(reference.to, 0);
      kept.push(reference);
    }
  }
  [...numbers.keys()].sort((a, b) => a - b).forEach((index, place) => void numbers.set(index, place + 1));
  return { tree: references.length === 0 ? root : rewrite(root, replaced, numbers), numbers, references: kept };
}

function collect(node: Node, place: number, above: Path, captures: Map<number, Path>, references: Path[]): void {
  const path = [...above, { node, place }];
  if (node.kind === 'capture') captures.set(node.index, path);
  if (node.kind === 'reference') references.push(path);
  partsOf(node).forEach((part, at) => void collect(part, at, path, captures, references));
}

function partsOf(node: Node): readonly Node[] {
  return 'parts' in node ? node.parts : 'part' in node ? [node.part] : [];
}

/** Returns whether the group has not matched whenever the reference is reached. Adds nodes that must be rewrite to `replaced`. */
function neverSet(reference: Path, group: Path, replaced: Map<Node, Node>): boolean {
  if (reference.some(({ node }) => node.kind === 'look')) refuse();
  let fork = 0;
  while (group[fork]?.node === reference[fork]?.node) {
    fork += 1;
    if (fork === group.length) return true;
  }
  // Likewise if its text is always empty; PostgreSQL fails such a reference in a repeat.
  if (takesNoText(group.at(-1)?.node as Node)) return true;
  const common = group[fork - 1]?.node as Node;
  if (common.kind === 'any' || (reference[fork]?.place ?? 0) < (group[fork]?.place ?? 0)) return true;
  const between = group.slice(fork, -1).map(({ node }) => node);
  if (between.some((node) => node.kind === 'look' && node.negative)) return true;
  const repeats = group.filter(({ node }) => node.kind === 'repeat' && (node.max === Infinity ? node.min : node.max) > MAX_COUNT);
  if (repeats.length > 0) refuse();
  const capture = group.at(-1)?.node as Capture;
  for (const node of between) {
    if (node.kind === 'repeat' && node.part === capture && node.min === 0 && node.max === 1)
      replaced.set(node, { ...capture, part: { ...node, part: capture.part } });
    else if (node.kind === 'any' || node.kind === 'look' || (node.kind === 'repeat' && node.min === 0)) refuse();
  }
  return false;
}

function rewrite(node: Node, replaced: ReadonlyMap<Node, Node>, numbers: ReadonlyMap<number, number>): Node {
  const now = replaced.get(node) ?? node;
  if ('parts' in now) return { ...now, parts: now.parts.map((part) => rewrite(part, replaced, numbers)) };
  if (now.kind === 'repeat') return steadyRepeat(rewrite(now.part, replaced, numbers), now.min, now.max, numbers);
  return 'part' in now ? { ...now, part: rewrite(now.part, replaced, numbers) } : now;
}

/**
 * Returns a repeat that PostgreSQL follows. If it contains references or their groups, PostgreSQL makes at most one empty iteration, so the
 * required iterations are unrolled.
 */
function steadyRepeat(part: Node, min: number, max: number, numbers: ReadonlyMap<number, number>): Node {
  if (part.kind === 'reference') return repeat(part, min, max);
  const within = (kind: 'capture' | 'reference') => (node: Node) =>
    node.kind === kind && (node.kind === 'reference' || numbers.has((node as Capture).index));
  const captures = has(part, within('capture'));
  if (min < 2 || !mayBeEmpty(part) || !(captures || has(part, within('reference')))) return repeat(part, min, max);
  if (captures || min > MAX_UNROLLED) refuse();
  return all([...new Array<Node>(min).fill(part), repeat(part, 0, max - min)]);
}

function has(node: Node, what: (node: Node) => boolean): boolean {
  return what(node) || partsOf(node).some((part) => has(part, what));
}

function mayBeEmpty(node: Node): boolean {
  if (node.kind === 'set') return false;
  if (node.kind === 'all') return node.parts.every(mayBeEmpty);
  if (node.kind === 'any') return node.parts.some(mayBeEmpty);
  if (node.kind === 'repeat') return node.min === 0 || mayBeEmpty(node.part);
  return node.kind === 'capture' ? mayBeEmpty(node.part) : true;
}

/** @throws badQuery (102) */
export function refuse(): never {
  fail('badQuery', 'Invalid regular expression: back reference that the database cannot follow');
}
