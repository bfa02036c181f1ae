import { inTurns } from '../../admission/body-share.ts';
import { endOfPiece, escapeJson } from '../../kernel/json.ts';

/** Characters of a string whose JSON text is written in one turn of the event loop: 2 to 5 ms. */
const PIECE_LENGTH = 1024 * 1024;

/** Whether the JSON text of a string takes long to write: 30 to 50 ms for 20 MB. */
export const isLongString = (value: unknown): value is string => typeof value === 'string' && value.length > PIECE_LENGTH;

/** Writes the JSON text of a string, a piece in each turn. @param system whose turns are used */
export const longStringText = (value: string, system: string): Promise<string> => inTurns(system, stringSteps(value));

function* stringSteps(value: string): Generator<undefined, string> {
  let text = '"';
  for (let at = 0; at < value.length; ) {
    const end = endOfPiece(value, at, PIECE_LENGTH);
    text += escapeJson(value.slice(at, end));
    at = end;
    yield;
  }
  return `${text}"`;
}

interface KnownText {
  readonly text: string;
  uses: number;
}

/** The JSON texts of long strings that are being written. V8 hashes a long string by its length. */
const known = new Map<string, KnownText>();

/** Writes the JSON text of a long string ahead, for `valueText`. Each call needs one of `forgetStringText`. */
export async function keepStringText(value: string, system: string): Promise<void> {
  const text = known.get(value)?.text ?? (await longStringText(value, system));
  const found = known.get(value);
  if (found) found.uses++;
  else known.set(value, { text, uses: 1 });
}

export function forgetStringText(value: string): void {
  const found = known.get(value);
  if (found && --found.uses === 0) known.delete(value);
}

/** Returns the JSON text of a value, for a long string the one that was written ahead. */
export const valueText = (value: unknown): string =>
  (isLongString(value) ? known.get(value)?.text : undefined) ?? JSON.stringify(value);
