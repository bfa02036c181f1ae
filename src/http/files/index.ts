import type { FastifyInstance } from 'fastify';
import type { HttpServices } from '../endpoint/services.ts';
import { registerImport } from './import.ts';
import { registerPrivateReads } from './private.ts';
import { registerReads } from './read.ts';
import { registerSignedPost } from './signed-post.ts';
import { registerUpload, type TakeUpload } from './upload.ts';

export type { TakeUpload } from './upload.ts';

/**
 * Registers the routes of files whose request or answer is not JSON. Reference: files.md#upload, files.md#serving.
 * @returns the handler for uploads of other parts of the service
 */
export function registerFiles(server: FastifyInstance, services: HttpServices): TakeUpload {
  const takeUpload = registerUpload(server, services);
  registerSignedPost(server, services);
  registerReads(server, services);
  registerPrivateReads(server, services);
  registerImport(server, services);
  return takeUpload;
}
