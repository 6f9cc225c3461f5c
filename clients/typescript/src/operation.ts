// The types of Client.request, from those of the OpenAPI document.
import type { paths } from "./openapi.js";

/** A method of the API. */
export type Method = "get" | "post" | "patch" | "delete";

/** The paths that have a method. */
export type Path<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends { responses: unknown } ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends Path<M>> = paths[P][M];

type Without<T> = T extends undefined ? never : T;

type InPath<O> = O extends { parameters: { path: infer Values } } ? { path: Values } : { path?: undefined };

type InQuery<O> = O extends { parameters: { query: infer Values } }
  ? { query: Values }
  : O extends { parameters: { query?: infer Values } }
    ? { query?: Without<Values> }
    : { query?: undefined };

type InBody<O> = O extends { requestBody: { content: { "application/json": infer Body } } }
  ? { body: Body }
  : O extends { requestBody?: { content: { "application/json": infer Body } } }
    ? { body?: Body }
    : { body?: undefined };

/** What an operation takes. */
export type CallsWith<M extends Method, P extends Path<M>> = InPath<Operation<M, P>> &
  InQuery<Operation<M, P>> &
  InBody<Operation<M, P>>;

type Json<R> = R extends { content: { "application/json": infer Body } } ? Body : undefined;

/** What an operation answers. */
export type Answer<M extends Method, P extends Path<M>> =
  Operation<M, P> extends { responses: infer Answers }
    ? Json<Answers[keyof Answers & (200 | 201 | 202 | 204)]>
    : never;
