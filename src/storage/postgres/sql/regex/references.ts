import { fail } from '../../../../errors/fail.ts';
import { all, type Capture, type Node, nothing, type Reference, repeat, takesNoText } from './tree.ts';

/** A tree without references that match no text, and the numbers of the groups that the others speak of. */
export interface Resolved {
  readonly tree: Node;
  readonly numbers: ReadonlyMap<number, number>;
  readonly references: readonly Reference[];
}

/** A node with those above it, from the root, and the place of each in the one before. */
type Path = readonly { readonly node: Node; readonly place: number }[];

/** A longer repeat is written as several, and a group cannot stand in a pattern twice. */
const maxCount = 255;
/** Rounds of a repeat that are written out. */
const maxRounds = 10;

/**
 * Settles what back references mean. In JavaScript one to a group that has no text (yet) matches no text, in PostgreSQL it fails the
 * match; so it has to be known which groups have one.
 * @throws badQuery (102) where that depends on the text, and for references into or within lookaround, which PostgreSQL lacks
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
  return { tree: references.length === 0 ? root : rewritten(root, replaced, numbers), numbers, references: kept };
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

/** Whether the group has no text whenever the reference is reached; notes groups that are to be written otherwise. */
function neverSet(reference: Path, group: Path, replaced: Map<Node, Node>): boolean {
  if (reference.some(({ node }) => node.kind === 'look')) refuse();
  let fork = 0;
  while (group[fork]?.node === reference[fork]?.node) {
    fork += 1;
    if (fork === group.length) return true;
  }
  // Nor where its text is always empty, which PostgreSQL does not follow in a repeat.
  if (takesNoText(group.at(-1)?.node as Node)) return true;
  const common = group[fork - 1]?.node as Node;
  if (common.kind === 'any' || (reference[fork]?.place ?? 0) < (group[fork]?.place ?? 0)) return true;
  const between = group.slice(fork, -1).map(({ node }) => node);
  if (between.some((node) => node.kind === 'look' && node.negative)) return true;
  const repeats = group.filter(({ node }) => node.kind === 'repeat' && (node.max === Infinity ? node.min : node.max) > maxCount);
  if (repeats.length > 0) refuse();
  const capture = group.at(-1)?.node as Capture;
  for (const node of between) {
    if (node.kind === 'repeat' && node.part === capture && node.min === 0 && node.max === 1)
      replaced.set(node, { ...capture, part: { ...node, part: capture.part } });
    else if (node.kind === 'any' || node.kind === 'look' || (node.kind === 'repeat' && node.min === 0)) refuse();
  }
  return false;
}

function rewritten(node: Node, replaced: ReadonlyMap<Node, Node>, numbers: ReadonlyMap<number, number>): Node {
  const now = replaced.get(node) ?? node;
  if ('parts' in now) return { ...now, parts: now.parts.map((part) => rewritten(part, replaced, numbers)) };
  if (now.kind === 'repeat') return steadyRepeat(rewritten(now.part, replaced, numbers), now.min, now.max, numbers);
  return 'part' in now ? { ...now, part: rewritten(now.part, replaced, numbers) } : now;
}

/**
 * A repeat that PostgreSQL follows. With references or their groups within, it takes no more empty rounds than one; so the rounds that
 * there have to be are written out.
 */
function steadyRepeat(part: Node, min: number, max: number, numbers: ReadonlyMap<number, number>): Node {
  if (part.kind === 'reference') return repeat(part, min, max);
  const within = (kind: 'capture' | 'reference') => (node: Node) =>
    node.kind === kind && (node.kind === 'reference' || numbers.has((node as Capture).index));
  const captures = has(part, within('capture'));
  if (min < 2 || !mayBeEmpty(part) || !(captures || has(part, within('reference')))) return repeat(part, min, max);
  if (captures || min > maxRounds) refuse();
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
