import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../access/index.ts';
import { fail, serviceError } from '../../errors/fail.ts';
import { endOfWrite } from '../../errors/system-faults.ts';
import { refuseWrongKey } from '../../files/index.ts';
import { limits } from '../../kernel/limits.ts';
import type { System } from '../../systems/index.ts';
import { principalFor } from '../../users/index.ts';
import { refuseEarly, sendReply } from '../answer.ts';
import { noteRequest, rememberAddress } from '../audit.ts';
import type { Edge } from '../edge.ts';
import type { Envelope } from '../envelope.ts';
import { LONGEST_LOCATION } from '../routes/records.ts';
import { hasLeft } from './body.ts';

/** Bytes that are to become a file. */
export interface UploadBytes {
  /** What the client says it is. */
  readonly saidType: string | undefined;
  /** As far as it is known; else 0. */
  readonly length: number;
  readonly bytes: AsyncIterable<Buffer>;
}

/** One upload on its way to its answer. It holds the system once it is known. */
export class Upload {
  readonly edge: Edge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** By `performance.now()`. */
  readonly started = performance.now();
  #system: System | undefined;
  #envelope: Envelope | undefined;
  #caller: Principal | null = null;
  #isAdmitted = false;

  constructor(edge: Edge, request: FastifyRequest, reply: FastifyReply) {
    this.edge = edge;
    this.request = request;
    this.reply = reply;
    rememberAddress(request);
  }

  /** What the client calls the file. */
  get fileName(): string {
    return (this.request.params as { fileName: string }).fileName;
  }

  /** Says whose file it is, and who sends it. @throws unauthorized (403) */
  async open(envelope: Envelope): Promise<void> {
    this.#envelope = envelope;
    const { appId } = envelope;
    this.#system ??= typeof appId === 'string' ? await this.edge.systems.acquire(appId) : undefined;
    if (!this.#system) fail('unauthorized');
  }

  /** Whether the caller may send a file, and the system takes one. @throws permissionDenied (119), invalidSession (209), outOfStorage (140) */
  async admit(): Promise<void> {
    if (this.#isAdmitted) return;
    const { system, envelope } = this.#opened();
    this.#caller = await principalFor(system, envelope.credentials, this.request.ip ?? '');
    refuseWrongKey(this.#caller);
    await this.edge.files.admit(system);
    this.#isAdmitted = true;
  }

  /** Makes them a file and answers. @throws what `admit` and `Files.upload` throw */
  async store({ saidType, length, bytes }: UploadBytes): Promise<void> {
    await this.admit();
    if (length > limits.fileBytes) fail('fileTooLarge');
    const { url, name } = await this.edge.files.upload(this.#opened().system, this.fileName, saidType, bytes);
    const headers = url.length <= LONGEST_LOCATION ? { location: url } : {};
    sendReply(this.edge, this.reply, { status: 201, json: JSON.stringify({ url, name }), headers });
    this.#note();
  }

  /** Answers at once, though the client may still be sending. */
  refuse(error: unknown): void {
    // That the bytes broke off is no fault of ours.
    refuseEarly(this.edge, this.reply, hasLeft(this.request.raw) ? serviceError('badRequest') : endOfWrite(error));
    this.#note();
  }

  /** Lets go of the system. */
  release(): void {
    this.#system?.release();
  }

  #opened(): { readonly system: System; readonly envelope: Envelope } {
    return { system: this.#system as System, envelope: this.#envelope as Envelope };
  }

  #note(): void {
    if (!this.#system) return;
    const { installationId, credentials } = this.#opened().envelope;
    const noted = { method: 'POST', principal: this.#caller, installationId, credentials, started: this.started };
    noteRequest(this.edge, this.#system, this.request, this.reply, noted);
  }
}
