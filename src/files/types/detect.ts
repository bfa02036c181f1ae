import { fail } from '../../errors/fail.ts';
import { findSignature } from './signature.ts';
import { type FileType, type Finding, refusedExtensions, refusedFindings, typeOfFinding, typesOfExtension } from './table.ts';
import { type Content, contentOf, hasShape, isCertainlyText, readText, type SampleText } from './text.ts';

/** Bytes needed to detect the type of a file. */
export const SAMPLE_BYTES = 64 * 1024;

/** Content type of files of unknown type. */
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

/** Types that a client may declare for text of unknown extension and content: browsers do not execute them. */
const declarableTypes = new Set(['text/csv', 'text/markdown', 'text/tab-separated-values', 'text/calendar', 'text/vcard']);

/** Signatures that are text and unambiguous, regardless of the extension. */
const textSignatures = new Set<Finding>(['pdf', 'rtf', 'eps']);

/** The facts by which a file is judged. */
interface Evidence {
  readonly extension: string;
  readonly isWhole: boolean;
  readonly text: SampleText | null;
  readonly found: Finding | null;
}

/**
 * Detects the content type of a file by its first bytes and its extension.
 * Reference: files.md#file-types.
 * @param sample the first `SAMPLE_BYTES` bytes, or the whole file; not empty
 * @param isWhole whether the sample is the whole file
 * @param declaredType the client's media type; used only for text that nothing else identifies
 * @returns the content type that the file is served as
 * @throws invalidFileType (403)
 */
export async function detectType(sample: Buffer, isWhole: boolean, fileName: string, declaredType?: string): Promise<string> {
  const evidence = await gatherEvidence(sample, isWhole, extensionOf(fileName));
  if (isExecutable(evidence)) return fail('invalidFileType');
  const types = typesOfExtension.get(evidence.extension);
  const type = types ? firstThatFits(types, evidence) : typeByBytes(evidence, declaredType);
  return type ?? fail('invalidFileType');
}

/**
 * Detects the content type of a large upload, where any type is accepted except executables: by its bytes, whatever the extension.
 * @returns the content type that the file is served as; `null` for an executable
 */
export async function describeType(sample: Buffer, isWhole: boolean, fileName: string): Promise<string | null> {
  const evidence = await gatherEvidence(sample, isWhole, extensionOf(fileName));
  if (isExecutable(evidence)) return null;
  const types = typesOfExtension.get(evidence.extension);
  return (types && firstThatFits(types, evidence)) ?? typeByBytes(evidence, undefined) ?? unknownType;
}

async function gatherEvidence(sample: Buffer, isWhole: boolean, extension: string): Promise<Evidence> {
  const found = await findSignature(sample);
  const text = found !== null && textSignatures.has(found) ? null : readText(sample, isWhole);
  // Nearly any bytes are valid text in a code page. A signature that begins with a non-ASCII byte is therefore more reliable, except one of only two
  // bytes.
  const isChance = text?.encoding === 'one-byte' && found !== null && found !== 'cpio' && (sample[0] ?? 0) >= 0x80;
  return { extension, isWhole, found, text: isChance ? null : text };
}

/** Returns the extension as operating systems see it: they ignore trailing dots and spaces. */
function extensionOf(fileName: string): string {
  const name = fileName.replace(/[. ]+$/, '');
  const dot = name.lastIndexOf('.');
  return dot === -1 ? '' : name.slice(dot + 1).toLowerCase();
}

function isExecutable({ extension, text, found }: Evidence): boolean {
  if (refusedExtensions.has(extension)) return true;
  if (text?.text.startsWith('#!')) return true;
  if (found === null || !refusedFindings.has(found)) return false;
  // Text may begin with the characters of a signature.
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

function typeByBytes({ isWhole, text, found }: Evidence, declaredType: string | undefined): string | undefined {
  if (text === null) return found === null ? undefined : typeOfFinding.get(found)?.contentType;
  if (!isCertainlyText(text)) return undefined;
  const content = contentOf(text, isWhole);
  const declared = declaredType?.split(';', 1)[0]?.trim().toLowerCase();
  const type = content === 'plain' && declared !== undefined && declarableTypes.has(declared) ? declared : typeOfContent[content];
  return withCharset(type, text);
}

/** Adds the charset to text types if it is known. XML and JSON declare theirs. */
function withCharset(contentType: string, { encoding }: SampleText): string {
  return contentType.startsWith('text/') && encoding !== 'one-byte' ? `${contentType}; charset=${encoding}` : contentType;
}
