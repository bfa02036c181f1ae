import { isSecretName, withoutCredentials, withoutSecrets } from '../kernel/header-text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/json.ts';

/** Maximum characters of JSON that a row keeps of one value, and of all values of a side (`before`, `after`). */
const MAX_VALUE_CHARS = 6_000;
const MAX_SIDE_CHARS = 16_000;
/** The same of a member of a value that is an object. */
const MAX_MEMBER_CHARS = 1_000;

/** Ends what was cut. */
const CUT = '… (cut)';

/**
 * Cuts the values of one side of an act to their bound: the members beyond it are counted, and a text that is too long is its beginning. What is cut
 * says so.
 */
export function bounded(values: JsonObject): JsonObject {
  return boundedMembers(values, MAX_SIDE_CHARS, (value) => boundedValue(value));
}

function boundedMembers(values: JsonObject, atMost: number, cut: (value: JsonValue) => JsonValue): JsonObject {
  const kept: [string, JsonValue][] = [];
  let left = atMost;
  const entries = Object.entries(values);
  for (const [at, [name, value]] of entries.entries()) {
    const short = cut(value);
    left -= name.length + JSON.stringify(short).length;
    if (left < 0) {
      kept.push(['…', `${entries.length - at} more${CUT}`]);
      break;
    }
    kept.push([name, short]);
  }
  return Object.fromEntries(kept);
}

function boundedValue(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  if (text.length <= MAX_VALUE_CHARS) return value;
  if (isJsonObject(value)) return boundedMembers(value, MAX_VALUE_CHARS, boundedText);
  return boundedText(value, MAX_VALUE_CHARS);
}

/** Returns a value that is too long as the beginning of its text. */
function boundedText(value: JsonValue, atMost = MAX_MEMBER_CHARS): JsonValue {
  const text = JSON.stringify(value);
  if (text.length <= atMost) return value;
  return (typeof value === 'string' ? value : text).slice(0, atMost).toWellFormed() + CUT;
}

const hidden = '***';

/**
 * Hides what may be a secret in values that people write freely: all that a suspicious name holds (audit.md#request-log), session tokens, and
 * credentials in addresses.
 */
function withoutSecretValues(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    const clean = withoutCredentials(value, []);
    return clean.includes('://') ? withoutSecrets(clean) : clean;
  }
  if (Array.isArray(value)) return value.map(withoutSecretValues);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value);
  // A header or a parameter may be an object of its name and its value.
  const isNamedSecret = members.some(
    ([name, held]) => /^(?:name|header)$/i.test(name) && typeof held === 'string' && isSecretName(held),
  );
  const isSecret = (name: string) => isSecretName(name) || (isNamedSecret && /^value$/i.test(name));
  return Object.fromEntries(
    members.map(([name, held]) => [name, isSecret(name) && held !== null ? hidden : withoutSecretValues(held)]),
  );
}

/** Returns a value as the log keeps it; `***` if one of the names that lead to it says that it may be a secret. */
export function valueUnder(names: readonly string[], value: JsonValue): JsonValue {
  return names.some(isSecretName) && value !== null ? hidden : withoutSecretValues(value);
}
