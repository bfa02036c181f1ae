/** Character classes that PostgreSQL's regular expressions lack, as ranges to put in brackets. */
interface CharacterClasses {
  readonly marks: string;
  /** All characters that words consist of. */
  readonly wordCharacters: string;
}

let classes: CharacterClasses | undefined;
let capitals: Map<string, string> | undefined;

/** Returns the classes, computed on the first call, which takes about 10 ms. */
export function characterClasses(): CharacterClasses {
  classes ??= { marks: rangesOf(/\p{M}+/gu), wordCharacters: rangesOf(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) };
  return classes;
}

/** Returns the arguments for `translate` that lower-case texts, limited to the letters of the words searched for. */
export function lowercaseMap(texts: readonly string[]): { readonly from: string; readonly to: string } {
  capitals ??= capitalsBySmall();
  let from = '';
  let to = '';
  for (const small of new Set(texts.join('').normalize('NFD'))) {
    for (const capital of capitals.get(small) ?? '') {
      from += capital;
      to += small;
    }
  }
  return { from, to };
}

function capitalsBySmall(): Map<string, string> {
  // A final sigma counts as a sigma, as in `words` of storage/sql/full-text.
  const found = new Map<string, string>([['σ', 'ς']]);
  for (const run of runsOf(/\p{Changes_When_Lowercased}+/gu)) {
    for (const capital of run) {
      const small = capital.toLowerCase();
      // Texts are decomposed before.
      if ([...small].length === 1 && capital.normalize('NFD') === capital) found.set(small, (found.get(small) ?? '') + capital);
    }
  }
  return found;
}

function rangesOf(pattern: RegExp): string {
  const ranges = runsOf(pattern).map((run) => {
    const points = [...run];
    return points.length < 3 ? run : `${points[0]}-${points.at(-1)}`;
  });
  return ranges.join('');
}

/** Returns the runs of consecutive characters that match, of all Unicode characters. */
function runsOf(pattern: RegExp): string[] {
  const runs: string[] = [];
  // The planes in between are unassigned.
  for (const [first, last] of [
    [0x1, 0xd7ff],
    [0xe000, 0x3ffff],
    [0xe0000, 0x10ffff],
  ] as const) {
    let text = '';
    for (let point = first; point <= last; point++) text += String.fromCodePoint(point);
    for (const [run] of text.matchAll(pattern)) runs.push(run);
  }
  return runs;
}
