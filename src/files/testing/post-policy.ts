/** The checks that S3 applies to posted forms and the test server does not. */
import { checkSignature, type Refusal } from './signature.ts';

type Condition = Readonly<Record<string, string>> | readonly [string, string | number, string | number];

/** Fields that need no condition. */
const free = new Set(['x-amz-signature', 'policy', 'file']);

/**
 * @param secrets by key id
 * @returns `null` if the form is accepted
 */
export async function checkForm(
  contentType: string,
  body: Buffer<ArrayBuffer>,
  secrets: ReadonlyMap<string, string>,
): Promise<Refusal | null> {
  const form = await new Response(body, { headers: { 'Content-Type': contentType } }).formData();
  const entries = [...form].map(([name, value]) => [name.toLowerCase(), value] as const);
  const last = entries.at(-1);
  if (last?.[0] !== 'file' || typeof last[1] === 'string') return { status: 400, code: 'InvalidArgument' };
  const fields = new Map(entries.slice(0, -1).map(([name, value]) => [name, String(value)]));
  const policy = fields.get('policy');
  if (policy === undefined) return refused;
  const wrongSignature = checkSignature(fields.get('x-amz-credential') ?? '', policy, fields.get('x-amz-signature'), secrets);
  if (wrongSignature) return wrongSignature;
  const { expiration, conditions } = JSON.parse(Buffer.from(policy, 'base64').toString()) as {
    expiration: string;
    conditions: Condition[];
  };
  if (!(Date.parse(expiration) > Date.now())) return refused;
  return checkConditions(conditions, fields, last[1].size);
}

const refused: Refusal = { status: 403, code: 'AccessDenied' };

function checkConditions(conditions: readonly Condition[], fields: ReadonlyMap<string, string>, size: number): Refusal | null {
  const named = new Set<string>();
  for (const condition of conditions) {
    if (!Array.isArray(condition)) {
      for (const [name, value] of Object.entries(condition)) {
        named.add(name.toLowerCase());
        if (fields.get(name.toLowerCase()) !== value) return refused;
      }
      continue;
    }
    const [kind, name, value] = condition as [string, string | number, string | number];
    if (kind === 'content-length-range') {
      if (size < Number(name)) return { status: 400, code: 'EntityTooSmall' };
      if (size > Number(value)) return { status: 400, code: 'EntityTooLarge' };
    } else if (kind === 'eq') {
      const field = String(name).slice(1).toLowerCase();
      named.add(field);
      if (fields.get(field) !== value) return refused;
    } else return refused;
  }
  const isNamed = (name: string) => named.has(name) || free.has(name) || name.startsWith('x-ignore-');
  return [...fields.keys()].every(isNamed) ? null : refused;
}
