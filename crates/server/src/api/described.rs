//! What the description of the API says of every route.

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response,
    ResponseBuilder,
};
use utoipa::{PartialSchema, ToSchema};

use crate::problem::Described;

/// The answers that any route may give, whatever it is for.
const ANYWHERE: [(&str, &str); 10] = [
    ("400", "The request cannot be read"),
    ("401", "No key was shown, or none that is good"),
    ("403", "The key's role may not do this"),
    ("404", "There is no such thing, or it is another tenant's"),
    ("408", "The body did not arrive in time"),
    ("413", "The body is too long"),
    ("415", "The body is not of a type that is read"),
    ("422", "A field is wrong; `field` says which"),
    ("429", "Too much was asked for; `Retry-After` says when to go on"),
    ("503", "The store is away or full; `Retry-After` says when to try again"),
];

const SCHEME: &str = "key";

/// What the description begins with.
pub(super) fn preface() -> OpenApi {
    let info = InfoBuilder::new()
        .title("trueup")
        .version("1")
        .description(Some("Reconciliation runs, the jobs that they execute, and what happened to them."));
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key of trueup, such as `trueup serve` prints at its first start."));
    let components = ComponentsBuilder::new()
        .security_scheme(SCHEME, SecurityScheme::Http(bearer.build()))
        .schema(Described::name(), Described::schema());
    OpenApiBuilder::new()
        .info(info.build())
        .components(Some(components.build()))
        .security(Some([SecurityRequirement::new(SCHEME, Vec::<String>::new())]))
        .build()
}

/// Adds to every route what holds for all of them.
pub(super) fn complete(document: &mut OpenApi) {
    for item in document.paths.paths.values_mut() {
        let writes = [&mut item.put, &mut item.patch, &mut item.delete];
        for operation in [&mut item.get].into_iter().chain(writes).flatten() {
            answers(operation);
        }
        if let Some(operation) = &mut item.post {
            answers(operation);
            operation.parameters.get_or_insert_default().push(RefOr::T(idempotency_key()));
        }
    }
}

fn answers(operation: &mut Operation) {
    for (status, meaning) in ANYWHERE {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| RefOr::T(problem(meaning)));
    }
}

/// An answer that says what is wrong.
fn problem(meaning: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(Described::name()))).build();
    ResponseBuilder::new().description(meaning).content("application/problem+json", content).build()
}

fn idempotency_key() -> Parameter {
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .description(Some("The same request sent again with the same key is done once."))
        .schema(Some(
            ObjectBuilder::new()
                .schema_type(utoipa::openapi::Type::String)
                .min_length(Some(1))
                .max_length(Some(255)),
        ))
        .build()
}
