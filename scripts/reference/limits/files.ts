import { settings } from '../../../src/config/settings.ts';
import * as presigned from '../../../src/files/uploads/presigned-uploads.ts';
import * as custom from '../../../src/functions/custom/index.ts';
import * as failure from '../../../src/functions/custom/loading/failure.ts';
import { isValidEmail, isValidPhone } from '../../../src/functions/forms/input.ts';
import * as jsonBody from '../../../src/http/files/json-body.ts';
import * as jsonUpload from '../../../src/http/files/json-upload.ts';
import * as privateReads from '../../../src/http/files/private.ts';
import * as reservedBytes from '../../../src/http/files/reserved-bytes.ts';
import * as signedPost from '../../../src/http/files/signed-post.ts';
import * as upload from '../../../src/http/files/upload.ts';
import * as form from '../../../src/http/functions/form.ts';
import * as input from '../../../src/http/functions/input.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { acceptedLengths, bytes, characters, count, duration, type LimitGroup, shared } from './limit.ts';

const phone = acceptedLengths((length) => isValidPhone('1'.repeat(length)), 1_000);
const email = acceptedLengths((length) => isValidEmail(`@.${'a'.repeat(Math.max(0, length - 2))}`.slice(0, length)), 1_000);

export const fileLimits: readonly LimitGroup[] = [
  {
    heading: '## Files',
    limits: [
      { of: 'uploaded file', value: bytes(limits.fileBytes), beyond: '413, an HTML page', see: 'files.md#upload' },
      {
        of: 'file of a large upload',
        value: bytes(limits.largeFileBytes),
        beyond: '400, code 107; of the form 413',
        see: 'files.md#large-uploads',
      },
      {
        of: 'file name in a path',
        value: characters(limits.fileNameLength),
        beyond: '400, code 122',
        see: 'files.md#upload',
      },
      {
        of: 'JSON upload: what is beside its `base64`; place of the key `base64`',
        value: `${bytes(jsonBody.MAX_REST_BYTES)}; in the first ${bytes(jsonUpload.HEAD_BYTES)}`,
        beyond: 'it is taken as a file, or 400, code 107',
        see: 'files.md#json-upload',
      },
      {
        of: 'time to send a file; without a header that names the application',
        value: `${duration(upload.UPLOAD_TIMEOUT_MS)}; ${duration(upload.UNNAMED_UPLOAD_TIMEOUT_MS)}`,
        beyond: '408',
        see: 'files.md#upload',
      },
      {
        of: 'uploads of a process that are under way',
        value: shared(reservedBytes.diskBounds, bytes),
        beyond: 'they wait; 408 if slow meanwhile',
        see: 'files.md#upload',
      },
      {
        of: 'lifetime of a large-upload policy',
        value: duration(presigned.POLICY_LIFETIME_S * 1_000),
        beyond: '403',
        see: 'files.md#large-uploads',
      },
      {
        of: 'fields of a large-upload form together',
        value: characters(signedPost.MAX_FIELDS_LENGTH),
        beyond: '400, code 107',
        see: 'files.md#large-uploads',
      },
      {
        of: 'address that the sign-in page returns to',
        value: characters(privateReads.MAX_RETURN_LENGTH),
        beyond: '`returnTo` is left out',
        see: 'files.md#private-files',
      },
      {
        of: 'storage of a system',
        value: 'no limit; a quota by `record-service files quota`',
        beyond: '400, code 140',
        see: 'files.md#storage-quota',
      },
    ],
  },
];

export const functionLimits: readonly LimitGroup[] = [
  {
    heading: '## Functions',
    limits: [
      {
        of: 'body of a call',
        value: `\`FUNCTION_BODY_BYTES\`, ${bytes(settings.FUNCTION_BODY_BYTES.read.parse(undefined))} by default`,
        beyond: '413, code 116',
        see: 'functions.md#calling-a-function',
      },
      {
        of: 'time of a custom function',
        value: `\`FUNCTION_TIMEOUT_MS\`, ${duration(settings.FUNCTION_TIMEOUT_MS.read.parse(undefined))} by default`,
        beyond: '503',
        see: 'functions.md#custom-functions',
      },
      {
        of: 'values of a JSON body',
        value: count(input.MAX_VALUES),
        beyond: '413, code 116',
        see: 'functions.md#calling-a-function',
      },
      {
        of: 'values of a form; different names of a form',
        value: `${count(form.MAX_VALUES)}; ${count(form.MAX_NAMES)}`,
        beyond: '400, code 107',
        see: 'functions.md#calling-a-function',
      },
      {
        of: 'calls of custom functions of a system that run at the same time; that wait',
        value: `${custom.CALL_LIMITS.concurrency}; ${count(custom.CALL_LIMITS.maxWaiting)}`,
        beyond: 'they wait; 503',
        see: 'functions.md#custom-functions',
      },
      {
        of: 'message of an error that a function throws',
        value: characters(failure.MAX_MESSAGE_LENGTH),
        beyond: 'it is cut',
        see: 'functions.md#custom-functions',
      },
      {
        of: 'digits of a phone (`ValidatePhoneOrEmail`)',
        value: `${phone.min} to ${phone.max}`,
        beyond: 'it is invalid',
        see: 'functions.md#getlead',
      },
      {
        of: 'characters of an e-mail address (`ValidatePhoneOrEmail`)',
        value: `${email.min} to ${email.max}`,
        beyond: 'it is invalid',
        see: 'functions.md#getlead',
      },
    ],
  },
];
