import type { FastifyInstance } from 'fastify';
import type { Edge } from '../edge.ts';
import { registerPrivateReads } from './private.ts';
import { registerReads } from './read.ts';
import { registerSignedPost } from './signed-post.ts';
import { registerUpload } from './upload.ts';

/** SPEC "Files": all that is not asked in JSON and answered in JSON. */
export function registerFiles(server: FastifyInstance, edge: Edge): void {
  registerUpload(server, edge);
  registerSignedPost(server, edge);
  registerReads(server, edge);
  registerPrivateReads(server, edge);
}
