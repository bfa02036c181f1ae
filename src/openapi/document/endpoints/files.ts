import type { JsonObject } from '../../../kernel/json.ts';
import { prefix } from '../../../kernel/prefix.ts';
import { security } from '../components/security.ts';
import { answer, body, bytes, count, free, object, operation, type Paths, path, text } from './operation.ts';

const tag = 'Files';
const anything = { '*/*': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } } };
const content: JsonObject = { description: 'The bytes.', content: anything };
const stored = path('name', 'Stored name.');
const signIn: JsonObject = { description: 'To the sign-in page, for callers without the right.' };

/** @param appId application id of the system. Reference: files.md */
export const filePaths = (appId: string): Paths => ({
  [`${prefix}/files/{fileName}`]: {
    parameters: [path('fileName', 'Any name for an upload; the stored name for a delete.')],
    post: operation(['uploadFile', tag], 'Upload a file', {
      security: [...security.application, ...security.any],
      requestBody: { required: true, content: anything },
      responses: { '201': answer('What a record attaches.', object({ name: text, url: text }, ['name', 'url'])) },
    }),
    delete: operation(['deleteFile', tag], 'Delete a file', {
      security: security.key,
      responses: { '200': { description: 'It is not there, or no longer.' } },
    }),
  },
  [`${prefix}/files/signed-url-put/{fileName}`]: {
    parameters: [path('fileName', 'Any name.')],
    post: operation(['largeUpload', tag], 'A policy for the upload of a large file', {
      requestBody: body(object({ ContentType: text, ContentLength: count }, ['ContentType', 'ContentLength'])),
      responses: { '200': answer('Where to send the form, and its fields.', object({ url: text, fields: free, name: text })) },
    }),
  },
  [`${prefix}/files/signed-post/${appId}`]: {
    post: operation(['sendLargeFile', tag], 'Take a large file, by a policy', {
      security: security.none,
      requestBody: {
        required: true,
        content: { 'multipart/form-data': { schema: { ...object({ file: text }, ['file']), additionalProperties: text } } },
      },
      responses: { '204': { description: 'Stored.' } },
    }),
  },
  [`${prefix}/files/${appId}/{name}`]: {
    parameters: [stored],
    get: operation(['readUpload', tag], 'Read an upload', { security: security.none, responses: { '200': content } }),
  },
  [`${prefix}/files/${appId}/{name}/{className}/{objectId}/{field}`]: {
    parameters: [
      stored,
      path('className', 'Table of the record that holds the file.'),
      path('objectId', 'The record.'),
      path('field', 'The field.'),
    ],
    get: operation(['readPrivateFile', tag], 'Read a private file', { responses: { '200': content, '302': signIn } }),
    post: operation(['readPrivateFileByPost', tag], 'Read a private file, with the credential in the body', {
      security: security.none,
      requestBody: body(object({ _MasterKey: text, _apiKey: text, _SessionToken: text })),
      responses: { '200': content, '302': signIn },
    }),
  },
  [`/static/${appId}/{name}`]: {
    parameters: [stored],
    get: operation(['readPublicFile', tag], 'Read a public file', {
      security: security.none,
      responses: { '200': content, '404': bytes('There is no such file.', 'text/plain') },
    }),
  },
});
