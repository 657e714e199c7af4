#include "arenite.h"

const char *arn_status_name(arn_status status) {
    switch (status) {
    case ARN_OK:
        return "ARN_OK";
    case ARN_ERROR_ARGUMENT:
        return "ARN_ERROR_ARGUMENT";
    case ARN_ERROR_ALIGNMENT:
        return "ARN_ERROR_ALIGNMENT";
    case ARN_ERROR_FORMAT:
        return "ARN_ERROR_FORMAT";
    case ARN_ERROR_VERSION:
        return "ARN_ERROR_VERSION";
    case ARN_ERROR_TRUNCATED:
        return "ARN_ERROR_TRUNCATED";
    case ARN_ERROR_CORRUPT:
        return "ARN_ERROR_CORRUPT";
    case ARN_ERROR_CHECKSUM:
        return "ARN_ERROR_CHECKSUM";
    case ARN_ERROR_OPERATOR:
        return "ARN_ERROR_OPERATOR";
    case ARN_ERROR_MEMORY:
        return "ARN_ERROR_MEMORY";
    case ARN_ERROR_UNSUPPORTED:
        return "ARN_ERROR_UNSUPPORTED";
    case ARN_ERROR_NOT_LOADED:
        return "ARN_ERROR_NOT_LOADED";
    }
    return "unknown arn_status";
}
