import { fail } from '../../errors/fail.ts';
import { findSignature } from './signature.ts';
import { type FileType, type Finding, refusedExtensions, refusedFindings, typeOfFinding, typesOfExtension } from './table.ts';
import { type Content, contentOf, hasShape, isPlainly, readText, type SampleText } from './text.ts';

/** How much of a file it takes to judge its type. */
export const SAMPLE_BYTES = 64 * 1024;

/** What a file without a type of ours is served as. */
export const unknownType = 'application/octet-stream';

const typeOfContent: Readonly<Record<Content, string>> = {
  html: 'text/html',
  svg: 'image/svg+xml',
  xml: 'application/xml',
  json: 'application/json',
  calendar: 'text/calendar',
  vcard: 'text/vcard',
  plain: 'text/plain',
};

/** What a client may call text whose content tells nothing and whose extension is not known: no browser runs these. */
const harmless = new Set(['text/csv', 'text/markdown', 'text/tab-separated-values', 'text/calendar', 'text/vcard']);

/** Signatures that are text and leave no doubt, whatever the extension. */
const textSignatures = new Set<Finding>(['pdf', 'rtf', 'eps']);

/** A sample as it is judged. */
interface Evidence {
  readonly extension: string;
  readonly isWhole: boolean;
  readonly text: SampleText | null;
  readonly found: Finding | null;
}

/**
 * Judges a file by its first bytes and its extension. SPEC "Files" rule 3; docs/decisions.md "Files".
 * @param sample the first `SAMPLE_BYTES` bytes, or all; not empty
 * @param isWhole whether the sample is the whole file
 * @param saidType what the client said: it counts for text only that nothing else tells of
 * @returns the content type that the file is served as
 * @throws invalidFileType (403)
 */
export async function detectType(sample: Buffer, isWhole: boolean, fileName: string, saidType?: string): Promise<string> {
  const evidence = await look(sample, isWhole, extensionOf(fileName));
  if (isExecutable(evidence)) return fail('invalidFileType');
  const known = typesOfExtension.get(evidence.extension);
  const type = known ? firstThatFits(known, evidence) : typeByBytes(evidence, saidType);
  return type ?? fail('invalidFileType');
}

/**
 * The same for a large upload, whose type is not checked: what its bytes are, whatever its extension.
 * @returns the content type that the file is served as; `null` for an executable
 */
export async function describeType(sample: Buffer, isWhole: boolean, fileName: string): Promise<string | null> {
  const evidence = await look(sample, isWhole, extensionOf(fileName));
  if (isExecutable(evidence)) return null;
  const known = typesOfExtension.get(evidence.extension);
  return (known && firstThatFits(known, evidence)) ?? typeByBytes(evidence, undefined) ?? unknownType;
}

async function look(sample: Buffer, isWhole: boolean, extension: string): Promise<Evidence> {
  const found = await findSignature(sample);
  const text = found !== null && textSignatures.has(found) ? null : readText(sample, isWhole);
  // A code page makes text of nearly anything: a signature that begins beyond ASCII is none of chance, but for one of two bytes.
  const isChance = text?.encoding === 'one-byte' && found !== null && found !== 'cpio' && (sample[0] ?? 0) >= 0x80;
  return { extension, isWhole, found, text: isChance ? null : text };
}

/** An extension as people read it: systems pass over dots and spaces at the end. */
function extensionOf(fileName: string): string {
  const name = fileName.replace(/[. ]+$/, '');
  const dot = name.lastIndexOf('.');
  return dot === -1 ? '' : name.slice(dot + 1).toLowerCase();
}

function isExecutable({ extension, text, found }: Evidence): boolean {
  if (refusedExtensions.has(extension)) return true;
  if (text?.text.startsWith('#!')) return true;
  if (found === null || !refusedFindings.has(found)) return false;
  // Text may begin with the letters of a signature.
  return text === null || !standsForText(extension);
}

function standsForText(extension: string): boolean {
  return typesOfExtension.get(extension)?.some((type) => type.findings.includes('text')) === true;
}

function firstThatFits(types: readonly FileType[], evidence: Evidence): string | undefined {
  const { text, found } = evidence;
  for (const { contentType, findings, shape } of types) {
    if (findings.includes('text') && text && hasShape(text, shape)) return withCharset(contentType, text);
    if (found !== null && findings.includes(found)) return contentType;
  }
  return undefined;
}

function typeByBytes({ isWhole, text, found }: Evidence, saidType: string | undefined): string | undefined {
  if (text === null) return found === null ? undefined : typeOfFinding.get(found)?.contentType;
  if (!isPlainly(text)) return undefined;
  const content = contentOf(text, isWhole);
  const said = saidType?.split(';', 1)[0]?.trim().toLowerCase();
  const type = content === 'plain' && said !== undefined && harmless.has(said) ? said : typeOfContent[content];
  return withCharset(type, text);
}

/** Text says how it is written where the bytes tell. XML and JSON say it themselves. */
function withCharset(contentType: string, { encoding }: SampleText): string {
  return contentType.startsWith('text/') && encoding !== 'one-byte' ? `${contentType}; charset=${encoding}` : contentType;
}
